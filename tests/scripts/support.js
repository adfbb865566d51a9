// What tests of layouts share: tokens as tokens.py writes them, and a context that measures text.

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
