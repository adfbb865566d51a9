// Maps of governor × dependent, unpacked.  Cells are [query, key, panel, place of the feature in
// the order of its panel].

import { sum, unpackBytes, unpackFloats } from "../lib/arrays.js";
import { flatIndex } from "../lib/map_data.js";
import { cellsOfIndices, largestIndices } from "../lib/walk.js";

export function unpack(payload) {
  const open = (packed) => (packed ? unpackFloats(packed) : null);
  const panels = payload.panels.map((block) => ({
    ...block,
    grid: unpackBytes(block.levels),
    weight: unpackFloats(block.weights),
    exact: unpackFloats(block.values),
    score: open(block.scores),
    even: open(block.even),
    out: block.masked ? unpackBytes(block.masked) : null,
    mean: open(block.mean),
    strip: block.mean_levels && unpackBytes(block.mean_levels),
    meanWeight: open(block.mean_weights ?? block.mean),
    meanScore: open(block.mean_scores),
    sourceWeight: open(block.source_weights ?? block.source),
    sourceScore: open(block.source_scores),
    source: open(block.source),
    features: block.source_levels && unpackBytes(block.source_levels),
  }));
  return { ...payload, panels, wide: panels[0].order?.length ?? 0 };
}

/** Pairs of all maps by their weight over an even share of their row. */
export function rankCells(data) {
  const n = data.axes.key.label.length;
  const rows = data.axes.query.label.length;
  const cells = rows * n;
  const open = data.panels.map((panel) =>
    Array.from({ length: rows }, (_, q) => countOpenKeys(data, panel, q)),
  );
  const size = (i) => {
    const panel = data.panels[Math.floor(i / cells)];
    const at = i % cells;
    return panel.out?.[at]
      ? NaN
      : panel.weight[at] *
          (panel.even ? 1 / panel.even[at] : open[Math.floor(i / cells)][Math.floor(at / n)]);
  };
  return cellsOfIndices(largestIndices(cells * data.panels.length, size), rows, n);
}

export const cellSizes = (data) => [
  data.axes.query.label.length,
  data.axes.key.label.length,
  data.panels.length,
  Math.max(data.wide, 1),
];

export const isMasked = (data, panel, cell) => Boolean(panel.out?.[flatIndex(data, cell)]);

export const countOpenKeys = (data, panel, q) => {
  const n = data.axes.key.label.length;
  const row = panel.out?.subarray(q * n, (q + 1) * n);
  return row ? n - sum([...row]) : n;
};

/**
 * The weight of a pair if attention were even over what the mask leaves, of the tokens where they
 * are folded.
 */
export const evenShare = (data, panel, cell) =>
  panel.even ? panel.even[flatIndex(data, cell)] : 1 / countOpenKeys(data, panel, cell[0]);

/** Largest first, among the row's keys. */
export function rankOf(data, panel, [q, k]) {
  const n = data.axes.key.label.length;
  const row = panel.weight.subarray(q * n, (q + 1) * n);
  return 1 + row.filter((weight) => weight > row[k]).length;
}
