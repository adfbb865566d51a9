// The words of the rows that can be read, and the count of the others.

import { drawText } from "../lib/text_drawing.js";
import { paintRowLabels } from "../lib/labels.js";
import { inSpan, passageCut } from "./model.js";

const sliceTokens = (tokens, from, size) =>
  Object.fromEntries(
    Object.entries(tokens).map(([name, list]) => [
      name,
      Array.isArray(list) ? list.slice(from, from + size) : list,
    ]),
  );

/**
 * Words of the rows that can be read, the answer's on a ground of their own; the others as a count.
 */
export function paintLabels(ctx, { x, y }, layout, data, theme, state, parts) {
  const { query } = data.axes;
  const [q, , panel] = state.cell;
  const best = data.panels[panel].spans[0];
  const isRead = rowsOf(data, parts[1], best).length > 0;
  parts.forEach(({ from, y: top, size, lay }, i) => {
    if (!size) return;
    const place = { x, y: y + top, own: layout.own };
    const middle = paintAnswerGround(ctx, data, { from, size, lay }, best, place, theme);
    const answered = isRead ? null : middle;
    if (i !== 1)
      return paintThinLabels(ctx, data, { from, size, lay }, best, answered, place, theme);
    paintRowLabels(ctx, lay, sliceTokens(query, from, size), x, y + top, theme, {
      chosen: q - from,
      hover: (state.hover?.[0] ?? -9) - from,
      colour: theme.query,
      room: layout.own - 12,
    });
  });
}

const rowsOf = (data, { from, size }, span) =>
  Array.from({ length: size }, (_, r) => r).filter((r) => inSpan(data, from + r, span));

/** A ground behind the answer's rows; returns the middle of those that are here, or null. */
function paintAnswerGround(ctx, data, { from, size, lay }, best, { x, y, own }, theme) {
  const rows = rowsOf(data, { from, size }, best);
  ctx.globalAlpha = 0.3;
  ctx.fillStyle = theme.accent;
  for (const r of rows)
    ctx.fillRect(x - own, y + lay.at[r], own - 5, Math.max(lay.pitch - lay.line, 1));
  ctx.globalAlpha = 1;
  return rows.length ? y + (lay.at[rows[0]] + lay.at[rows.at(-1)] + lay.pitch) / 2 : null;
}

/** Of rows that cannot be read their count, and the answer where it is among them. */
function paintThinLabels(ctx, data, { from, size, lay }, best, answered, { x, y, own }, theme) {
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x - 8, y, 2, lay.size);
  const middle = y + lay.size / 2;
  const numbers = size > 1 ? `${from + 1}–${from + size}` : String(from + 1);
  const lines = lay.size >= 30 ? [size > 1 ? "rows" : "row", numbers] : [numbers];
  const first = middle + (lines.length > 1 ? -3 : 4);
  const look = { align: "right", theme, size: 12 };
  if (answered !== null)
    drawText(ctx, passageCut(data, best), x - 12, answered + 4, theme.text, {
      ...look,
      room: own - 14,
    });
  if (lay.size < 11 || (answered !== null && Math.abs(answered - middle) < 10 + 7 * lines.length))
    return;
  lines.forEach((line, j) => drawText(ctx, line, x - 14, first + 14 * j, theme.muted, look));
}
