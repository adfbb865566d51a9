// The panel beside the cube: the chosen cell in words and exact numbers, the untouched texts, the
// strongest triples.

import { make, setLanguage } from "../lib/elements.js";
import { formatChange, formatNumber } from "../lib/numbers.js";
import { fillTemplate, fittingCase, sayNumber } from "../lib/renderer/description.js";
import { COST, triplesTable } from "./triples.js";
import { firstReadOffset, markedText, wordNodes } from "./words.js";

const ALL_TEXTS = 3; // with more of them, those without a mark are left out

/** A description with the numbers of one cell alone, for the templates of its readout. */
function described(data, numbers, approximate, out) {
  const { relevance } = numbers;
  const below = relevance < 0;
  const size = Math.abs(relevance);
  const flags = { masked: out, approximate, below, "about below": approximate && below };
  const said = Object.entries({ ...numbers, size, ...flags })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, { values: [Number(value ?? NaN)], steps: [] }]);
  return { ...data, panels: [{ ...data.panels[0], arrays: Object.fromEntries(said) }] };
}

/** Names, numbers and what they mean; dots for what is not known yet. */
function factRows(data, cell, cost) {
  const [panel] = data.panels;
  const [numbers] = data.readout.numbers;
  const known = (number) =>
    number.array in panel.arrays ? sayNumber(data, number, panel, cell) : "…";
  const rows = data.readout.columns.map(([name, help], i) => [name, known(numbers[i]), help]);
  const removed = ["cost if removed", cost === undefined ? "…" : formatChange(cost, 3), COST];
  return data.costed ? [...rows, removed] : rows;
}

const called = ({ long, short }) => make("span", { title: long }, short);

/** The sentence of a cell; a token at its end may be a full stop itself. */
function sentenceNodes(data, cell) {
  const [sentence] = data.readout.sentences;
  const pieces = fillTemplate(data, fittingCase(data, sentence, cell).text, data.panels[0], cell);
  const [[word], [stop]] = pieces.slice(-2);
  if (stop === "." && /[.!?。！？]$/.test(word)) pieces.pop();
  return pieces.map(([text, ink]) => (ink ? make("span", { class: `ink ${ink}` }, text) : text));
}

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
    const told = described(payload, numbers, approximate, out);
    facts.replaceChildren(
      ...factRows(told, cell, numbers.cost).flatMap(([name, value, help]) => [
        make("dt", { title: help }, name),
        make("dd", {}, value),
      ]),
    );
    sentence.replaceChildren(...sentenceNodes(told, cell));
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
