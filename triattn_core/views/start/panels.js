// The two pictures of the first screen: a block of card × language, and two-way attention, which
// has no cell for a pair.

import { clamp } from "../lib/arrays.js";
import { draw, drawBox, frontOf, inOrder, thread } from "./slab.js";

const [ABOVE, DEEP] = [66, 16]; // pixels of chips and threads above a block; of its roof
const LOW = 26; // of a box of a language, in two-way attention

/** Sizes of a panel in the room that there is. */
function layout(stage, payload, left, columns, margin) {
  const height = clamp((window.innerHeight - 486) / payload.cards.length, 32, 64);
  const room = stage.clientWidth - left - margin;
  const width = clamp(room / columns, 34, 136);
  return { left, top: ABOVE + DEEP, width, height };
}

function place(parts, payload, size, x) {
  const bottom = size.top + size.height * payload.cards.length + 14;
  parts.stage.style.height = `${bottom}px`;
  parts.picture.setAttribute("width", parts.stage.clientWidth);
  parts.picture.setAttribute("height", bottom);
  const rows = parts.stage.querySelectorAll(".cards li");
  rows.forEach((row, i) => {
    row.style.top = `${size.top + i * size.height + (size.height - 28) / 2}px`;
  });
  parts.stage.querySelectorAll(".chips button").forEach((chip, j) => {
    chip.style.left = `${x + (j + 0.5) * size.width}px`;
  });
  return rows;
}

function boxesOf(payload, state, size) {
  const { left: x, top: y, width, height } = size;
  const last = payload.languages.length - 1;
  return state.cells.flatMap((column, j) =>
    column.map((weight, i) => ({
      row: i, column: j, weight, x: x + j * width, y: y + i * height, width, height,
      roof: Number(i === 0), side: Number(j === last),
    })),
  ); // prettier-ignore
}

/** The strongest cell: its front, framed, and the threads to its card and its language. */
function threadsTo(payload, state, size, theme) {
  const [row, column] = state.cell;
  const weight = Math.max(...state.cells.flat());
  const box = { x: size.left + column * size.width, y: size.top + row * size.height, weight };
  const [x, y] = frontOf(box);
  const middle = y + size.height / 2;
  const end = size.top + (row + 0.5) * size.height;
  const above = size.left + (column + 0.5) * size.width;
  const line = { fill: "none", "stroke-width": 2.5, "stroke-linecap": "round" };
  const over = thread([above, 36], [x + size.width / 2, y], true);
  return [
    draw("path", { d: thread([112, end], [x, middle]), stroke: theme.key, ...line }),
    draw("path", { d: over, stroke: theme.context, ...line }),
    draw("rect", {
      x: x + 1, y: y + 1, width: size.width - 2, height: size.height - 2,
      fill: "none", stroke: theme.text, "stroke-width": 2, rx: 2,
    }),
    draw("circle", { cx: x, cy: middle, r: 4, fill: theme.key }),
    draw("circle", { cx: x + size.width / 2, cy: y, r: 4, fill: theme.context }),
  ]; // prettier-ignore
}

/** The block of Tri-Attention. */
export function paintTri(parts, payload, state, table, theme) {
  const size = layout(parts.stage, payload, 176, payload.languages.length, 76);
  const rows = place(parts, payload, size, size.left);
  rows.forEach((row, i) => row.classList.toggle("on", Math.round(state.cell[0]) === i));
  const boxes = inOrder(boxesOf(payload, state, size)).map((box) => drawBox(box, table, theme));
  const right = size.left + payload.languages.length * size.width + 26;
  const asked = draw("text", { x: right, y: size.top - 2, class: "asked" }, payload.asked);
  parts.picture.replaceChildren(...boxes, ...threadsTo(payload, state, size, theme), asked);
}

function marginBoxes(payload, state, size) {
  const { width, height, top: y } = size;
  const x = size.left;
  const [row, column] = [y - LOW - 10, x - width - 10];
  const box = (weight, i, j, left, above, empty = false) => ({
    row: i, column: j, weight, x: left, y: above, width, height: i < 0 ? LOW : height,
    roof: Number(i <= 0), side: 1, empty,
  }); // prettier-ignore
  const inside = payload.cards.flatMap((_, i) =>
    payload.languages.map((_name, j) => box(0, i, j, x + j * width, y + i * height, true)),
  );
  const cards = state.two.cards.map((weight, i) => box(weight, i, -1, column, y + i * height));
  const languages = state.two.languages.map((weight, j) =>
    box(weight, -1, j, x + j * width, row, state.lit[j] < 0.02),
  );
  const solid = [...languages, box(state.two.itself, -1, -1, column, row), ...cards];
  return [...inside, ...inOrder(solid)];
}

/** Two-way attention: a weight for each card, for the language, and for the word itself. */
export function paintTwoWay(parts, payload, state, table, theme) {
  const columns = payload.languages.length + 1;
  const size = layout(parts.stage, payload, 106, columns, 44);
  size.left = 106 + size.width + 10;
  place(parts, payload, size, size.left);
  const boxes = marginBoxes(payload, state, size).map((box) => drawBox(box, table, theme));
  const names = payload.languages.map((name, j) => {
    const at = { x: size.left + (j + 0.5) * size.width + 8, y: size.top - LOW - 34 };
    const look = state.lit[j] > 0.5 ? "language lit" : "language";
    return draw("text", { ...at, "text-anchor": "middle", class: look }, name);
  });
  const middle = { x: size.left + 1.5 * size.width, y: size.top + 3 * size.height + 5 };
  const note = draw("text", { ...middle, "text-anchor": "middle" }, "no cell for a pair");
  const itself = { x: size.left - size.width - 22, y: size.top - LOW / 2 - 5 };
  const asked = draw("text", { ...itself, "text-anchor": "end", class: "asked" }, payload.asked);
  parts.picture.replaceChildren(...boxes, ...names, note, asked);
}
