// COIN's payload unpacked.  Cells are [query, key, block, feature of the gate, what the query looks
// at in its own sentence, the same of the key].

import { sum, unpackFloats } from "../lib/arrays.js";
import { axisSize } from "../lib/map_data.js";
import { cellsOfIndices, largestIndices } from "../lib/walk.js";

export const AXIS = { query: 0, key: 1 };
export const SCALE_OF_MAP = { weight: "scale", plain: "scale", changed: "gap" };

export function unpack(payload) {
  const open = (packed) => (packed ? unpackFloats(packed) : null);
  const parts = [
    "weight",
    "score",
    "plain",
    "changed",
    "gate",
    "gate_low",
    "gate_high",
    "features",
  ];
  const block = (one) =>
    one && {
      ...one,
      ...Object.fromEntries(parts.map((name) => [name, open(one[name])])),
      own: one.own.map(unpackFloats),
    };
  return { ...payload, blocks: payload.blocks.map(block) };
}

export const hasContextTerm = (data) => data.blocks.some((block) => block?.changed);

/**
 * Pairs of all blocks by the size of what context changed; where there is no term, by their weight.
 */
export function rankCells(data) {
  const rows = axisSize(data, "query");
  const columns = axisSize(data, "key");
  const cells = rows * columns;
  const term = hasContextTerm(data);
  const size = (i) => {
    const block = data.blocks[Math.floor(i / cells)];
    return block ? Math.abs((term ? block.changed : block.weight)?.[i % cells] ?? NaN) : NaN;
  };
  return cellsOfIndices(largestIndices(cells * data.blocks.length, size), rows, columns);
}

export const cellSizes = (data) => [
  axisSize(data, "query"),
  axisSize(data, "key"),
  data.blocks.length,
  data.wide,
  axisSize(data, "query"),
  axisSize(data, "key"),
];

/**
 * The weight of a key where attention is even over the tokens, of which a folded key joins several:
 * [its, of all].
 */
export const evenCounts = (data, k) => [data.axes.key.cells[k], sum(data.axes.key.cells)];

/**
 * What the maps of a line are, in places that stay when the context term is ablated; `empty`:
 * why one has no cells.
 */
export function mapKinds(data) {
  if (!data.has.plain) return [{ name: "weight", title: "alignment", note: "no context term" }];
  const off = data.blocks.some(Boolean) && !hasContextTerm(data);
  return [
    off
      ? { title: "with context", note: "", empty: "The context term is ablated." }
      : { name: "weight", title: "with context", note: "what the block uses" },
    off
      ? { name: "weight", title: "without", note: "what the block uses" }
      : { name: "plain", title: "without", note: "same states, term left out" },
    off
      ? { title: "difference", note: "", empty: "Nothing to compare with." }
      : { name: "changed", title: "difference", note: "what context changed" },
  ];
}
