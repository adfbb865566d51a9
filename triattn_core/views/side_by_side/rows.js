// The chosen row as bars below each map, and the divergence of all rows beside their difference.

import { clamp, mean } from "../lib/arrays.js";
import { thinLabels } from "../lib/axis.js";
import { drawText } from "../lib/text_drawing.js";
import { spokenLabel } from "../lib/label_text.js";
import { formatNumber, formatShort } from "../lib/numbers.js";
import { font } from "../lib/theme.js";
import { formatValue } from "./model.js";
import { DIVERGENCE, ROW_BARS, SHARED } from "./sizes.js";

/**
 * The chosen row as bars below its own columns, on one scale for all maps; the difference has its
 * own.
 */
export function paintRow(ctx, box, layout, data, theme, state, index) {
  const { columns } = layout;
  const [q, k] = state.cell;
  const isGap = box.block === data.gap;
  const keys = data.axes.key.label.length;
  const rowOf = (block) =>
    Array.from(block.exact.subarray(q * keys, (q + 1) * keys), (v) => (Number.isFinite(v) ? v : 0));
  const values = rowOf(box.block);
  const like = (isGap ? [data.gap] : data.panels).flatMap(rowOf);
  const top = Math.max(0, ...like);
  const bottom = Math.min(0, ...like);
  const span = top - bottom || 1;
  const colour = isGap ? null : (theme[box.block.mechanism] ?? theme.bar);
  const { signed } = state.tables;
  const y = box.y + layout.top + layout.rows.size + 30;
  const long = ROW_BARS - 32;
  const zero = y + (top / span) * long;
  const thick = clamp(columns.pitch * 0.62, 1.5, 22);
  const inset = (columns.pitch - columns.line - thick) / 2;
  values.forEach((value, i) => {
    const size = Math.max((Math.abs(value) / span) * long, 0.75);
    const across = Math.max(thick, i === k ? 3 : 0);
    ctx.globalAlpha = i === k ? 1 : 0.55;
    ctx.fillStyle =
      colour ?? (box.block.within?.[q * keys + i] ? theme.bar : signed[value < 0 ? 48 : 206]);
    ctx.fillRect(
      box.x + columns.at[i] + inset - (across - thick) / 2,
      value < 0 ? zero : zero - size,
      across,
      size,
    );
  });
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.muted;
  ctx.fillRect(box.x, zero - 0.5, columns.size, 1);
  const label = formatValue(box.block.exact[q * keys + k], isGap);
  const half = ((ctx.font = font(theme, 13, 650)), ctx.measureText(label).width / 2);
  const middle = clamp(
    box.x + columns.at[k] + columns.pitch / 2,
    box.x + half - 6,
    Math.max(box.x + layout.wide - half, box.x + half - 6),
  );
  // The number stands above all bars that it is as wide as.
  const near = values.filter(
    (_, i) =>
      Math.abs(box.x + columns.at[i] + columns.pitch / 2 - middle) < half + columns.pitch / 2,
  );
  const tip = zero - (Math.max(0, values[k], ...near) / span) * long - 6;
  drawText(ctx, label, middle, tip, theme.text, { weight: 650, align: "center", theme });
  const caption = isGap ? "change for " : index === 0 ? "what " : "";
  const name = spokenLabel(data.axes.query, q);
  if (caption)
    drawText(
      ctx,
      `${caption}“${name}”${isGap ? "" : " attends to"}`,
      box.x,
      y + long + 18,
      theme.muted,
      {
        theme,
        room: layout.wide,
      },
    );
}

/** One bar a query, on the rows of the difference map; numbers where there is room for them. */
export function paintDivergence(ctx, box, layout, data, theme, state) {
  const { rows } = layout;
  const { overlap } = data.gap;
  const q = state.cell[0];
  const there = data.gap.divergence.filter((v) => v !== null);
  const values = data.gap.divergence.map((v) => v ?? 0);
  const most = Math.max(...values, 1e-9);
  const x = box.x + layout.wide + 18;
  const y = box.y + layout.top;
  const thick = clamp(rows.pitch * 0.36, 2, 10);
  const visible = thinLabels(rows, 15, [q, state.hover?.[0] ?? -1], values);
  values.forEach((value, i) => {
    if (data.gap.divergence[i] === null) return;
    const middle = y + rows.at[i] + rows.pitch / 2;
    const size = Math.max((value / most) * (DIVERGENCE - 66 - SHARED), 1);
    ctx.fillStyle = i === q ? theme.query : theme.bar;
    ctx.fillRect(x, middle - thick / 2, size, thick);
    if (visible.has(i))
      drawText(
        ctx,
        formatShort(value),
        x + size + 6,
        middle + 4.5,
        i === q ? theme.query : theme.muted,
        {
          size: 12,
          weight: i === q ? 700 : 400,
          theme,
        },
      );
    if (visible.has(i) && overlap && overlap[i] !== null)
      drawText(
        ctx,
        String(overlap[i]),
        x + DIVERGENCE - 18,
        middle + 4.5,
        i === q ? theme.query : theme.muted,
        { size: 12, weight: i === q ? 700 : 400, align: "right", theme },
      );
  });
  ctx.fillStyle = theme.muted;
  ctx.fillRect(x - 1, y, 1, rows.size);
  if (there.length)
    drawText(ctx, "mean " + formatNumber(mean(there)), x, y + rows.size + 20, theme.muted, {
      theme,
    });
  const same = overlap?.filter((v) => v !== null) ?? [];
  if (same.length)
    drawText(ctx, mean(same).toFixed(1), x + DIVERGENCE - 18, y + rows.size + 20, theme.muted, {
      align: "right",
      theme,
    });
}
