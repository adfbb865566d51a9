// The panel beside the cube: the chosen cell in words and exact numbers, the untouched texts, the
// strongest triples.

import { factRows } from "./facts.js";
import { triplesTable } from "./triples.js";
import { firstReadOffset, markedText, sentenceNodes, wordNodes } from "./words.js";
import { make, setLanguage } from "../lib/elements.js";
import { formatNumber } from "../lib/numbers.js";

const ALL_TEXTS = 3; // with more of them, those without a mark are left out

/**
 * Fills `box`; open(cell), fold(unfolded): see `triplesTable`.  Returns update(cell, numbers,
 * approximate, out), `out` for a cell that a mask leaves out, and showCosts(costOf).
 */
export function buildInspector(box, payload, choose, open, fold) {
  const words = payload.order.map((axis) =>
    make("div", { class: axis, title: payload.says[axis] }),
  );
  const strong = make("strong");
  const facts = make("dl");
  const sentence = make("p", { class: "sentence", "aria-live": "polite" });
  const texts = Object.keys(payload.texts).map((name) =>
    setLanguage(make("span", { dir: "auto", "data-text": name }), payload.texts[name]),
  );
  const called = ({ long, short }) => make("span", { title: long }, short);
  const triples = triplesTable(payload, choose, open, fold);
  const unit = payload.quantity === "weight" ? "weight" : "relevance, centred";
  box.replaceChildren(
    make(
      "div",
      {},
      make("div", { class: "words" }, ...words),
      make(
        "div",
        { class: "value" },
        make("div", {}, strong, make("small", { title: payload.says.quantity }, unit)),
        facts,
      ),
      sentence,
      make(
        "div",
        { class: "texts", "aria-label": "The texts with the chosen tokens marked" },
        ...texts.map((span) => make("p", {}, called(payload.names[span.dataset.text]), span)),
      ),
    ),
    make("div", {}, triples.table, ...triples.below),
  );
  const update = (cell, numbers, approximate, out) => {
    const names = payload.order.map((axis, a) => payload.axes[axis].name[cell[a]]);
    payload.order.forEach((axis, a) => {
      const tokens = payload.axes[axis];
      const word = make("b", { title: names[a] }, ...wordNodes(tokens, cell[a]));
      words[a].replaceChildren(payload.roles[axis], word, tokens.where[cell[a]]);
    });
    strong.textContent = (approximate ? "≈ " : "") + formatNumber(numbers[payload.quantity]);
    facts.replaceChildren(
      ...factRows(payload, numbers).flatMap(([name, value, help]) => [
        make("dt", { title: help }, name),
        make("dd", {}, value),
      ]),
    );
    sentence.replaceChildren(...sentenceNodes(payload, names, numbers, approximate, out));
    texts.forEach((span) => {
      span.replaceChildren(...markedText(payload, span.dataset.text, cell));
      const mark = span.querySelector("mark");
      span.scrollTop = (mark ? mark.offsetTop : firstReadOffset(span, payload)) - 26;
      span.parentElement.hidden = texts.length > ALL_TEXTS && !mark;
    });
    triples.rows.forEach((row, n) =>
      row.setAttribute("aria-selected", String(triples.listed[n].every((x, a) => x === cell[a]))),
    );
  };
  return { update, showCosts: triples.showCosts };
}
