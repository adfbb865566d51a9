// The two pictures of the first screen: a block of card × language, and two-way attention, which
// has no cell for a pair.

import { clamp } from "../lib/arrays.js";
import { draw } from "../lib/elements.js";
import { drawBox, frontOf, inOrder, thread } from "./slab.js";

const [ABOVE, DEEP] = [66, 16]; // pixels of chips and threads above a block; of its roof
const [LOW, GAP] = [24, 18]; // of a box of a word that is no card, in two-way attention; below it

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

/** A box for each word that is read: itself, the language, the cards; none for a pair of them. */
function boxesOfWords(payload, state, size) {
  const { width, height, top: y } = size;
  const [x, low] = [size.left, y - GAP - LOW];
  const box = (weight, row, at, above, tall, roof) => ({
    row,
    column: 0,
    weight,
    x: at,
    y: above,
    width,
    height: tall,
    roof: Number(roof),
    side: 1,
    told: true,
  });
  const beside = (j) => x + 10 + (j + 1) * width;
  const pairs = payload.cards.flatMap((_, i) =>
    payload.languages.map((_name, j) => ({
      ...box(0, i, beside(j), y + i * height, height),
      empty: true,
    })),
  );
  const language = state.two.languages.reduce((sum, weight) => sum + weight);
  const words = [
    box(state.two.itself, -2, x, low - LOW, LOW, true),
    box(language, -1, x, low, LOW, false),
    ...state.two.cards.map((weight, i) => box(weight, i, x, y + i * height, height, i === 0)),
  ];
  return [...pairs, ...inOrder(words)];
}

/** Two-way attention: a weight for each card, for the language, and for the word itself. */
export function paintTwoWay(parts, payload, state, table, theme) {
  const columns = payload.languages.length + 1;
  const size = layout(parts.stage, payload, 106, columns, 44);
  const grid = 106 + size.width + 10;
  place(parts, payload, size, size.left);
  const boxes = boxesOfWords(payload, state, size).map((box) => drawBox(box, table, theme));
  const names = payload.languages.map((name, j) => {
    const at = { x: grid + (j + 0.5) * size.width, y: size.top - 12 };
    const look = state.lit[j] > 0.5 ? "language lit" : "language";
    return draw("text", { ...at, "text-anchor": "middle", class: look }, name);
  });
  const middle = { x: grid + 1.5 * size.width, y: size.top + 3 * size.height + 5 };
  const note = draw("text", { ...middle, "text-anchor": "middle" }, "no cell for a pair");
  const word = (text, boxesAbove, look) =>
    draw("text", { x: 32, y: size.top + 5 - GAP - (boxesAbove - 0.5) * LOW, class: look }, text);
  const spoken = payload.languages[state.lit.indexOf(Math.max(...state.lit))];
  const read = [word(payload.asked, 2, "asked"), word(spoken, 1, "spoken")];
  parts.picture.replaceChildren(...boxes, ...names, note, ...read);
}
