// What is known of a cell of a cube without the server: exact where the figure has it, else what
// its level stands for.

import { numberAt, valueAt } from "../lib/renderer/description.js";

const product = (list) => list.reduce((a, b) => a * b, 1);

/** Whether a mask leaves a cell out. */
export const isMasked = (data, cell) => Boolean(valueAt(data, data.panels[0], "masked", cell));

/** How many cells the distribution of a cell has that no mask leaves out, and how many it has. */
export function rowOf(data, cell) {
  const spans = Object.keys(data.axes).map((axis, a) =>
    data.over.includes(axis) ? [0, data.sizes[axis]] : [cell[a], cell[a] + 1],
  );
  const size = product(spans.map(([from, to]) => to - from));
  if (!data.panels[0].arrays.masked) return { size, open: size };
  let open = 0;
  for (let q = spans[0][0]; q < spans[0][1]; q++)
    for (let k = spans[1][0]; k < spans[1][1]; k++)
      for (let c = spans[2][0]; c < spans[2][1]; c++) open += Number(!isMasked(data, [q, k, c]));
  return { size, open };
}

/** The cells of the model that a cell joins along some axes. */
const joined = (data, cell, isAlong) =>
  product(
    Object.entries(data.axes).map(([axis, { cells }], a) => (isAlong(axis) ? cells[cell[a]] : 1)),
  );

export function numbersAt(data, cell) {
  const [panel] = data.panels;
  const { quantity, over, even_share: even, rows, pairs, exact } = data;
  const masked = isMasked(data, cell);
  const without = quantity === "weight" ? 0 : -Infinity; // of a cell that a mask leaves out
  const known = data.known.get(cell.join());
  const value = known ?? (masked ? without : numberAt(data, panel, quantity, cell));
  const { size, open } = rowOf(data, cell);
  const numbers = { [quantity]: value, of: panel.arrays.masked ? open : pairs };
  for (const name of exact) numbers[name] = valueAt(data, panel, name, cell);
  if (numbers.weight === undefined) return numbers;
  const outside = joined(data, cell, (axis) => !over.includes(axis));
  // The weight where attention is even over the cells of the model, of which none is masked.
  const share = (even * joined(data, cell, (axis) => over.includes(axis)) * size) / (open || size);
  return { ...numbers, share: (numbers.weight * outside) / rows, against: numbers.weight / share };
}
