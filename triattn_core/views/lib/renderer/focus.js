// Rows of which those around the chosen one can be read, and the others are thin; and what stands
// at the labels of both.

import { clamp } from "../arrays.js";
import { paintRowLabels } from "../labels.js";
import { drawText } from "../text_drawing.js";

const GAP = 4; // between rows that can be read and thin ones
const EDGE = 2; // rows beyond those that can be read, to which these move on
const LINED = 7; // pixels of a row that has a line below it

/** Rows for the focus of a grid: [how many can be read, pixels of all others]. */
export function focusRows(count, pitch, [readable, rest]) {
  const thin = clamp(rest / (count - readable), 0.2, 5);
  const size = readable * pitch + (count - readable) * thin + 2 * GAP;
  const rows = { count, readable, thin, pitch, size, line: 1, first: null };
  return aimAt(rows, 0);
}

/** Places rows so that row `q` can be read; those that can stay while it is among them. */
export function aimAt(rows, q) {
  if (!rows.readable) return rows;
  const { count, readable, thin, pitch, first } = rows;
  const last = count - readable;
  if (first === null || q < first - EDGE || q >= first + readable + EDGE)
    rows.first = clamp(q - Math.floor(readable / 2), 0, last);
  else if (q < first) rows.first = q;
  else if (q >= first + readable) rows.first = q - readable + 1;
  if (rows.first === first) return rows;
  let from = 0;
  let top = 0;
  rows.parts = [rows.first, readable, last - rows.first].flatMap((size, i) => {
    if (!size) return [];
    const step = i === 1 ? pitch : thin;
    const start = top;
    const at = Array.from({ length: size }, (_, r) => start + r * step);
    const part = { from, at, pitch: step, size: size * step, line: step >= LINED ? 1 : 0 };
    from += size;
    top += part.size + GAP;
    return [{ ...part, read: i === 1 }];
  });
  rows.at = rows.parts.flatMap(({ at }) => at);
  rows.size = top - GAP;
  return rows;
}

/** The stretches of rows that are alike: {from, at, pitch, size, line, read}. */
export const partsOf = (rows) => rows.parts ?? [{ ...rows, from: 0, read: true }];

/** The stretch that a row is in. */
export const partOf = (rows, q) => partsOf(rows).findLast(({ from }) => from <= q);

const sliceTokens = (tokens, { from, at }) =>
  Object.fromEntries(
    Object.entries(tokens).map(([name, list]) => [
      name,
      Array.isArray(list) ? list.slice(from, from + at.length) : list,
    ]),
  );

/** Labels of the rows that can be read; of the others their count.  taken: where a word stands. */
export function paintFocusLabels(ctx, rows, tokens, x, y, theme, look, taken) {
  for (const part of partsOf(rows)) {
    if (!part.read) paintCount(ctx, part, x, y, theme, taken);
    else {
      const [chosen, hover] = [look.chosen, look.hover].map((i) => Math.max(i - part.from, -1));
      const shown = rows.parts ? sliceTokens(tokens, part) : tokens;
      paintRowLabels(ctx, part, shown, x, y, theme, { ...look, chosen, hover });
    }
  }
}

function paintCount(ctx, { from, at, size }, x, y, theme, taken) {
  const top = y + at[0];
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x - 8, top, 2, size);
  const count = at.length;
  const middle = top + size / 2;
  const numbers = count > 1 ? `${from + 1}–${from + count}` : String(from + 1);
  const lines = size >= 30 ? [count > 1 ? "rows" : "row", numbers] : [numbers];
  if (size < 11 || (taken !== null && Math.abs(taken - middle) < 10 + 7 * lines.length)) return;
  const first = middle + (lines.length > 1 ? -3 : 4);
  const look = { align: "right", theme, size: 12 };
  lines.forEach((line, j) => drawText(ctx, line, x - 14, first + 14 * j, theme.muted, look));
}

/**
 * A ground behind the labels of the rows that are flagged; where none of them can be read `words`
 * stand there.  Returns their height, or null.
 */
export function paintGround(ctx, rows, flags, words, x, y, room, theme) {
  let [first, last, read] = [null, null, false];
  ctx.globalAlpha = 0.3;
  ctx.fillStyle = theme.accent;
  for (const part of partsOf(rows))
    part.at.forEach((at, i) => {
      if (!flags[part.from + i]) return;
      ctx.fillRect(x - room, y + at, room - 5, Math.max(part.pitch - part.line, 1));
      first ??= y + at;
      last = y + at + part.pitch;
      read ||= part.read;
    });
  ctx.globalAlpha = 1;
  if (first === null || read) return null;
  const middle = (first + last) / 2;
  const look = { align: "right", theme, size: 12, room: room - 14 };
  drawText(ctx, words, x - 12, middle + 4, theme.text, look);
  return middle;
}
