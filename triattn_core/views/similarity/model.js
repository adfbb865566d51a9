// Maps of passage × question words, unpacked.  Cells are [passage word, question word, panel].

import { unpackBytes, unpackFloats } from "../lib/arrays.js";
import { spokenLabel } from "../lib/label_text.js";
import { flatIndex } from "../lib/map_data.js";
import { formatNumber, formatProbability } from "../lib/numbers.js";
import { valueOfLevel } from "../lib/scales.js";
import { cellsOfIndices, largestIndices } from "../lib/walk.js";

export const OVER_PASSAGE = "over passage";
export const FLOWS = { weight: "passage → question", [OVER_PASSAGE]: "question → passage" };
export const ONE_FOR_ALL = "one for all question words";

export function unpack(payload) {
  const open = (packed) => (packed ? unpackFloats(packed) : null);
  const panels = payload.panels.map((one) => ({
    ...one,
    grid: unpackBytes(one.levels),
    start: unpackFloats(one.start),
    end: unpackFloats(one.end),
    relevance: open(one.relevance),
    weight: open(one.weight),
    "over passage": open(one["over passage"]),
  }));
  const top = Math.max(
    ...panels.flatMap(({ start, end }) => [Math.max(...start), Math.max(...end)]),
    1e-6,
  );
  return {
    ...payload,
    panels,
    top,
    answer: payload.facts.length ? { cell: payload.cell, facts: payload.facts } : null,
  };
}

/** Cells of all maps by their place on the scale of their map. */
export function rankCells(data) {
  const rows = data.axes.query.label.length;
  const columns = data.axes.key.label.length;
  const cells = rows * columns;
  return cellsOfIndices(
    largestIndices(
      cells * data.panels.length,
      (i) => data.panels[Math.floor(i / cells)].grid[i % cells],
    ),
    rows,
    columns,
  );
}

export const cellSizes = (data) => [
  data.axes.query.label.length,
  data.axes.key.label.length,
  data.panels.length,
];

/** A number of a cell: exact where it was sent, else what its level stands for. */
export function valueAt(data, cell, index = cell[2]) {
  const panel = data.panels[index];
  const exact = panel[data.quantity];
  const i = flatIndex(data, cell);
  return exact ? [exact[i], ""] : [valueOfLevel(panel.scale, panel.grid[i]), "≈ "];
}

export const passageLetters = (data) => (data.letters ??= [...data.texts.passage]);

export const passageCut = (data, [start, end]) =>
  passageLetters(data).slice(start, end).join("").replace(/\s+/g, " ");

export const inSpan = (data, q, span) =>
  Boolean(span) && data.axes.query.start[q] < span[1] && data.axes.query.end[q] > span[0];

/** What is said of a cell, for the tooltip and for a screen reader. */
export function describeCell(data, cell) {
  const [q, k, index] = cell;
  const panel = data.panels[index];
  const [value, about] = valueAt(data, cell);
  const flow = FLOWS[data.quantity];
  const shared = data.quantity === OVER_PASSAGE && panel.one_for_all ? `, ${ONE_FOR_ALL}` : "";
  const name = flow ? `weight, ${flow}${shared}` : data.quantity;
  const ends = `start ${formatProbability(panel.start[q])}, end ${formatProbability(panel.end[q])}`;
  return [
    `${spokenLabel(data.axes.query, q)} × ${spokenLabel(data.axes.key, k)}`,
    `${panel.title}: ${name} ${about}${formatNumber(value)}`,
    ends,
  ];
}
