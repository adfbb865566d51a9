// Maps side by side, unpacked: values arrive exactly (float32); levels only colour the cells.

import { sum, unpackBytes, unpackFloats } from "../lib/arrays.js";
import { formatNumber, formatSigned } from "../lib/numbers.js";
import { cellsOfIndices, largestIndices } from "../lib/walk.js";

const NOT_THERE = "not there";

export function unpack(payload) {
  const open = (block) => ({
    ...block,
    grid: unpackBytes(block.levels),
    exact: unpackFloats(block.values),
    within: block.within && unpackBytes(block.within),
  });
  const panel = (block) => ({
    ...open(block),
    weight: unpackFloats(block.weights),
    rank: unpackBytes(block.ranks),
  });
  return { ...payload, panels: payload.panels.map(panel), gap: payload.gap && open(payload.gap) };
}

/**
 * Cells by the size of the difference, those that seeds do not explain first; without it by their
 * largest weight.
 */
export function rankCells({ gap, panels, axes }) {
  const rows = axes.query.label.length;
  const columns = axes.key.label.length;
  const size = gap
    ? (i) => Math.abs(gap.exact[i]) + (gap.within?.[i] ? 0 : 1e3)
    : (i) => Math.max(...panels.map((panel) => panel.weight[i]));
  return cellsOfIndices(largestIndices(rows * columns, size), rows, columns).map(([q, k]) => [
    q,
    k,
  ]);
}

export const cellSizes = (data) => ["query", "key"].map((axis) => data.axes[axis].label.length);

/** A number; a gap in words. */
export const formatValue = (x, signed) =>
  x === null || Number.isNaN(x) ? NOT_THERE : signed ? formatSigned(x) : formatNumber(x);

/**
 * The weight of a column where attention is even over the cells of the model, of which a folded one
 * joins several.
 */
export const evenShare = ({ axes: { key }, hidden }, panel, [q, k]) =>
  key.cells[k] /
  (hidden[1] +
    sum(key.cells.filter((_, i) => !Number.isNaN(panel.weight[q * key.cells.length + i]))));

/** How many keys a query has, with those that are hidden. */
export const countKeys = ({ hidden }, panel, q, keys) =>
  hidden[0] +
  panel.weight.subarray(q * keys, (q + 1) * keys).filter((v) => !Number.isNaN(v)).length;
