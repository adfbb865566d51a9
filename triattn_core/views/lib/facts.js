// Below a figure of maps: the untouched texts with the chosen tokens marked, and a table of
// numbers.

import { make, markSpans, setLanguage } from "./elements.js";
import { unreadEnd } from "./unread.js";

const LONG_TEXT = 80; // characters: longer texts get more of the width

/**
 * A text after its short name, with spans marked; what lies behind `data.read`, the character up to
 * which the model reads it, is pale and cut.
 */
export function textLine(data, name, spans) {
  const { short, long } = data.names[name];
  const text = data.texts[name];
  const letters = [...text];
  const end = data.read?.[name] ?? letters.length;
  const marked = markSpans(letters.slice(0, end).join(""), spans);
  const rest = unreadEnd(letters.slice(end).join(""));
  const words = make("span", { dir: "auto" }, ...marked, ...rest);
  return make("p", {}, make("span", { title: long }, short), setLanguage(words, text));
}

/** Gives the box below a figure more room for its texts where one of them is long. */
export function classBelow(box, data) {
  const long = Math.max(...Object.values(data.texts).map((text) => text.length)) > LONG_TEXT;
  box.className = long ? "below long" : "below";
}

/**
 * A table.  columns: [name, what it means].  rows: {name, cells, chosen, main, help}; a cell may be
 * a <td> itself; `main`: whether its first number stands out, as that of a chosen row does.
 */
export function factsTable(corner, columns, rows) {
  const top = columns.map(([name, help]) => make("th", { scope: "col", title: help }, name));
  const body = rows.map(({ name, cells, chosen = false, main = chosen, help }) => {
    const names = [name].flat();
    const head = make("th", help ? { scope: "row", title: help } : { scope: "row" });
    head.append(...(chosen ? [make("b", {}, ...names)] : names));
    const rest = cells.map((cell, i) =>
      cell instanceof Node ? cell : make("td", i || !main ? {} : { class: "main" }, cell),
    );
    return make("tr", chosen ? { "aria-selected": "true" } : {}, head, ...rest);
  });
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, corner), ...top));
  return make("table", {}, head, make("tbody", {}, ...body));
}
