// The chosen row as bars below each map, and the divergence of all rows beside their difference.

import { clamp, mean } from "../lib/arrays.js";
import { thinLabels } from "../lib/axis.js";
import { drawText } from "../lib/text_drawing.js";
import { spokenLabel } from "../lib/label_text.js";
import { formatNumber, formatShort } from "../lib/numbers.js";
import { font } from "../lib/theme.js";
import { formatValue } from "./model.js";
import { DIVERGENCE, ROW_BARS, SHARED } from "./sizes.js";

/** The chosen row of a block; what is not finite counts as zero. */
function rowValues(block, q, keys) {
  const row = block.exact.subarray(q * keys, (q + 1) * keys);
  return Array.from(row, (value) => (Number.isFinite(value) ? value : 0));
}

/** From zero: bars up, and down where a value is negative; the chosen one is the widest. */
function paintRowBars(ctx, x, { columns, zero, pixels, inset, thick }, values, k, colourOf) {
  values.forEach((value, i) => {
    const size = Math.max(Math.abs(value) * pixels, 0.75);
    const across = Math.max(thick, i === k ? 3 : 0);
    ctx.globalAlpha = i === k ? 1 : 0.55;
    ctx.fillStyle = colourOf(value, i);
    ctx.fillRect(
      x + columns.at[i] + inset - (across - thick) / 2,
      value < 0 ? zero : zero - size,
      across,
      size,
    );
  });
  ctx.globalAlpha = 1;
}

/** The chosen number, above all bars that it is as wide as. */
function paintRowNumber(ctx, x, wide, { columns, zero, pixels }, values, k, label, theme) {
  ctx.font = font(theme, 13, 650);
  const half = ctx.measureText(label).width / 2;
  const middleOf = (i) => x + columns.at[i] + columns.pitch / 2;
  const least = x + half - 6;
  const middle = clamp(middleOf(k), least, Math.max(x + wide - half, least));
  const near = values.filter((_, i) => Math.abs(middleOf(i) - middle) < half + columns.pitch / 2);
  const tip = zero - Math.max(0, values[k], ...near) * pixels - 6;
  drawText(ctx, label, middle, tip, theme.text, { weight: 650, align: "center", theme });
}

/** What the row is, below the first map and below the difference. */
function rowCaption(data, q, isGap, index) {
  const name = `“${spokenLabel(data.axes.query, q)}”`;
  if (isGap) return `change for ${name}`;
  return index === 0 ? `what ${name} attends to` : "";
}

/**
 * The chosen row as bars below its own columns, on one scale for all maps; the difference has its
 * own.
 */
export function paintRow(ctx, box, layout, data, theme, state, index) {
  const { columns, wide } = layout;
  const { block, x } = box;
  const [q, k] = state.cell;
  const isGap = block === data.gap;
  const keys = data.axes.key.label.length;
  const values = rowValues(block, q, keys);
  const onScale = (isGap ? [data.gap] : data.panels).flatMap((panel) => rowValues(panel, q, keys));
  const top = Math.max(0, ...onScale);
  const span = top - Math.min(0, ...onScale) || 1;
  const y = box.y + layout.top + layout.rows.size + 30;
  const long = ROW_BARS - 32;
  const zero = y + (top / span) * long;
  const thick = clamp(columns.pitch * 0.62, 1.5, 22);
  const inset = (columns.pitch - columns.line - thick) / 2;
  const place = { columns, zero, pixels: long / span, inset, thick };
  const { signed } = state.tables;
  const gapColour = (value, i) =>
    block.within?.[q * keys + i] ? theme.bar : signed[value < 0 ? 48 : 206];
  const mapColour = () => theme[block.mechanism] ?? theme.bar;
  paintRowBars(ctx, x, place, values, k, isGap ? gapColour : mapColour);
  ctx.fillStyle = theme.muted;
  ctx.fillRect(x, zero - 0.5, columns.size, 1);
  const label = formatValue(block.exact[q * keys + k], isGap);
  paintRowNumber(ctx, x, wide, place, values, k, label, theme);
  const caption = rowCaption(data, q, isGap, index);
  if (caption) drawText(ctx, caption, x, y + long + 18, theme.muted, { theme, room: wide });
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
