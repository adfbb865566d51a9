// What tests of layouts share: tokens as labels.py writes them, and a context that measures text.

import { readFileSync } from "node:fs";

const RULE = new URL("../../triattn_core/views/lib/label_ways.json", import.meta.url);
globalThis.LABELS = JSON.parse(readFileSync(RULE, "utf-8"));

/** Tokens of one letter each, or as given; a new text begins at each place of `breaks`. */
export function tokens(labels, breaks = []) {
  const list = typeof labels === "number" ? Array.from({ length: labels }, () => "a") : labels;
  const zeros = list.map(() => 0);
  let text = 0;
  const texts = list.map((_, i) => String((text += breaks.includes(i) ? 1 : 0)));
  return {
    label: list,
    name: list,
    text: texts,
    joined: zeros,
    special: zeros,
    cells: list.map(() => 1),
    position: list.map((_, i) => i),
    kind: list.every((label) => label.length === 1) ? "letters" : "words",
    stands: list.map((label) => Number(label.length === 1)),
  };
}

/** Seven pixels a letter. */
export const context = () => ({ font: "", measureText: (text) => ({ width: 7 * text.length }) });

export const THEME = { fonts: "sans-serif" };

/** The middle of a cell that two axes make. */
export const middle = (box, rows, columns, r, c) => [
  box.x + columns.at[c] + columns.pitch / 2,
  box.y + rows.at[r] + rows.pitch / 2,
];

/** A figure as `unpack` of description.js gives it, as far as its layout and hits ask. */
export function described(axes, counts, panels, grid = {}) {
  const sizes = { ...counts };
  for (const [name, axis] of Object.entries(axes)) sizes[name] = axis.label.length;
  const names = [...Object.keys(axes), ...Object.keys(counts)];
  const axisOf = Object.fromEntries(names.map((name, i) => [name, i]));
  const cells = { scale: "main", levels: "levels" };
  const full = panels.map((panel) => {
    return { rows: "query", columns: "key", cells, marks: [], title: "", ...panel };
  });
  return {
    axes,
    sizes,
    axisOf,
    panels: full,
    scales: { main: { title: "" } },
    scale_lines: [],
    grid: { ...GRID, ...grid },
  };
}

const GRID = {
  across: [9, 9],
  least: 150,
  finest: 4,
  widest: 360,
  cell: [64, 220],
  row: [7, 26, 312],
  labels: [20, 96],
  gutter: 20,
  repeats: true,
};
