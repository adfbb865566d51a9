// Axes of canvas figures: tokens laid out along a line. tokens: {label[], joined[], text[], …}, as
// `tokens` of tokens.py writes them.  A gap stands wherever the text changes.

import { sum } from "./arrays.js";

export const countGaps = (tokens) =>
  sum(tokens.text.map((text, i) => (i && text !== tokens.text[i - 1] ? 1 : 0)));

/**
 * Positions of the cells of an axis: at[i] is the near edge of cell i, `pitch` its width, `size`
 * the whole.
 */
export function layoutAxis(tokens, pitch, gap = 6) {
  let edge = 0;
  const at = tokens.label.map((_, i) => {
    if (i) edge += pitch + (tokens.text[i] !== tokens.text[i - 1] ? gap : 0);
    return edge;
  });
  return { at, pitch, size: at.length ? edge + pitch : 0, line: pitch >= 7 ? 1 : 0 };
}

/** The cell under a coordinate, or -1. */
export function cellAt({ at, pitch, size }, x) {
  const i = x < size ? at.findLastIndex((edge) => edge <= x) : -1;
  return i >= 0 && x < at[i] + pitch ? i : -1;
}

/**
 * Which labels are drawn when they do not all fit: those of `always`, then by rank, none nearer
 * than `need`.
 */
export function thinLabels(layout, need, always = [], rank = null) {
  const every = layout.at.map((_, i) => i);
  if (layout.pitch >= need) return new Set(every);
  const order = [
    ...always.filter((i) => i >= 0),
    ...(rank ? every.sort((a, b) => rank[a] - rank[b]) : every),
  ];
  const kept = [];
  for (const i of order)
    if (kept.every((j) => Math.abs(layout.at[i] - layout.at[j]) >= need)) kept.push(i);
  return new Set(kept);
}

/** Stretches of an axis without a gap, as [first, last]. */
export function contiguousRuns(layout) {
  const runs = [];
  layout.at.forEach((at, i) =>
    i && at - layout.at[i - 1] < layout.pitch + 0.5 ? (runs.at(-1)[1] = i) : runs.push([i, i]),
  );
  return runs;
}
