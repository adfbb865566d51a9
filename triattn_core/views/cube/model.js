// The cube's payload unpacked, its numbers, and its cells.  A cell is [query, key, third]; the
// third axis is context or feature.

import { unpackBytes, unpackFloats } from "../lib/arrays.js";
import { valueOfLevel } from "../lib/scales.js";

export const AXIS = { query: 0, key: 1, context: 2, feature: 2 };

/** Whether groups join cells of the model. */
export const joinsCells = (payload) =>
  payload.order.some((axis) => payload.axes[axis].cells.some((n) => n > 1));

/** Of each panel the axis down, the axis across, and the one that it is a slice of. */
const panelsOf = ([query, key, third]) => ({
  qk: [query, key, third],
  qc: [query, third, key],
  kc: [key, third, query],
});

/** The payload, unpacked: levels, sums and exact numbers by cell. */
export function unpackCube(payload) {
  const axes = payload.order.map((axis) => payload.axes[axis]);
  const third = payload.order[2];
  const [Q, K, C] = axes.map((a) => a.label.length);
  const levels = unpackBytes(payload.levels);
  const sums = Object.fromEntries(
    Object.entries(payload.sums).map(([name, packed]) => [name, unpackFloats(packed)]),
  );
  const masked = payload.masked && unpackBytes(payload.masked);
  const exact =
    payload.exact &&
    Object.fromEntries(
      Object.entries(payload.exact).map(([name, packed]) => [name, unpackFloats(packed)]),
    );
  const at = (cell) => (cell[0] * K + cell[1]) * C + cell[2];
  return {
    payload,
    axes,
    third,
    panels: panelsOf(payload.order),
    sizes: [Q, K, C],
    exact,
    levels,
    at,
    level: (cell) => levels[at(cell)],
    masked: (cell) => Boolean(masked && masked[at(cell)]),
    /** How many cells the distribution of a cell has, and how many of them no mask leaves out. */
    row: (cell) => {
      const spans = payload.order.map((axis, a) =>
        payload.over.includes(axis) ? [0, [Q, K, C][a]] : [cell[a], cell[a] + 1],
      );
      const size = spans.reduce((n, [from, to]) => n * (to - from), 1);
      if (!masked) return { size, open: size };
      let open = 0;
      for (let q = spans[0][0]; q < spans[0][1]; q++)
        for (let k = spans[1][0]; k < spans[1][1]; k++)
          for (let c = spans[2][0]; c < spans[2][1]; c++) open += 1 - masked[at([q, k, c])];
      return { size, open };
    },
    overKey: sums.key && ((q, c) => sums.key[q * C + c]),
    overThird: (q, k) => sums[third][q * K + k],
  };
}

/**
 * What is known of a cell without the server: exact where the payload has it, else what its level
 * stands for.
 */
export function numbersAt(cube, cell) {
  const { payload, levels, exact } = cube;
  const i = cube.at(cell);
  const known = listedValue(cube, cell);
  const value =
    known !== undefined
      ? known
      : cube.masked(cell)
        ? payload.quantity === "weight"
          ? 0
          : -Infinity
        : valueOfLevel(payload.scale, levels[i]);
  const numbers = {
    [payload.quantity]: value,
    of: payload.masked ? cube.row(cell).open : payload.pairs,
  };
  if (exact) {
    for (const name of Object.keys(exact)) numbers[name] = exact[name][i];
  }
  if (numbers.weight !== undefined)
    Object.assign(numbers, {
      share: (numbers.weight * joinedRows(cube, cell)) / payload.rows,
      against: numbers.weight / evenShare(cube, cell),
    });
  return numbers;
}

/** How many distributions of the model the one of a cell joins. */
function joinedRows({ payload, axes }, cell) {
  const outside = payload.order.filter((axis) => !payload.over.includes(axis));
  return outside.reduce((n, axis) => n * axes[AXIS[axis]].cells[cell[AXIS[axis]]], 1);
}

/** The exact value of a cell that is among the strongest triples: these came with the figure. */
export function listedValue(cube, cell) {
  const { cells, value } = cube.payload.triples;
  cube.strongest ||= new Map(cells.map((one, n) => [one.join(), value[n]]));
  return cube.strongest.get(cell.join()) ?? undefined;
}

/**
 * The weight of a cell where attention is even over the cells of the model, of which a folded one
 * joins several, and a masked one has no part.
 */
function evenShare(cube, cell) {
  const cells = cube.payload.over.reduce(
    (n, axis) => n * cube.axes[AXIS[axis]].cells[cell[AXIS[axis]]],
    1,
  );
  const { size, open } = cube.row(cell);
  return (cube.payload.even * cells * size) / (open || size);
}

export const isFolded = ({ axes }) => axes.some((tokens) => tokens.cells.some((n) => n > 1));

/** The cell that a hit leads to: it may name a row, a column or both. */
export function cellOfHit(cube, cell, hit) {
  const [row, col] = cube.panels[hit.name];
  const next = [...cell];
  if (hit.r !== undefined) next[AXIS[row]] = hit.r;
  if (hit.c !== undefined) next[AXIS[col]] = hit.c;
  return next;
}

/** The next cell for a key in a panel, or null where the key is not ours. */
export function cellForKey(cube, cell, panel, key) {
  const [row, col, depth] = cube.panels[panel];
  const steps = {
    ArrowUp: [row, -1],
    ArrowDown: [row, 1],
    ArrowLeft: [col, -1],
    ArrowRight: [col, 1],
    "[": [depth, -1],
    "]": [depth, 1],
  };
  if (!steps[key]) return null;
  const [axis, by] = steps[key];
  return cell.map((i, a) => (a === AXIS[axis] ? i + by : i));
}

/** A cell as positions in the trace. */
export const toTraceCell = (cube, cell) => cell.map((i, a) => cube.axes[a].position[i]);

/** A cell from its positions in the trace; null where one is not shown. */
export function fromTraceCell(cube, cell) {
  const places = cell.map((p, a) => cube.axes[a].position.indexOf(p));
  return places.every((i) => i >= 0) ? places : null;
}
