// The strongest cells one after another: the keys n and p, two buttons below a figure, arrows in a
// list of cells.

import { make } from "./elements.js";

export const WALK_STEPS = { n: 1, p: -1 };

/**
 * The next (1) or last (-1) of a list of cells, from elsewhere its first; what a listed cell does
 * not say stays.
 */
export function nextInWalk(list, cell, step) {
  if (!list.length) return null;
  const at = list.findIndex((one) => one.every((x, a) => x === cell[a]));
  const next = list[at < 0 ? 0 : (at + step + list.length) % list.length];
  return cell.map((x, a) => next[a] ?? x);
}

/** Two buttons that do what the keys do. */
export function walkButtons(step) {
  return [
    ["p", "previous"],
    ["n", "next"],
  ].map(([key, says]) => {
    const button = make(
      "button",
      { type: "button", class: "walk", title: `The ${says} of the strongest, by key too` },
      make("kbd", {}, key),
      ` ${says}`,
    );
    button.addEventListener("click", () => step(WALK_STEPS[key]));
    return button;
  });
}

/** Rows of a list of cells, by click, Enter and arrows. */
export function makeWalkable(rows, choose) {
  rows.forEach((row, n) => {
    row.addEventListener("click", () => choose(n));
    row.addEventListener("keydown", (event) => {
      const to = { Enter: n, " ": n, ArrowDown: n + 1, ArrowUp: n - 1 }[event.key];
      if (!rows[to]) return;
      event.preventDefault();
      event.stopPropagation();
      rows[to].focus();
      choose(to);
    });
  });
}
