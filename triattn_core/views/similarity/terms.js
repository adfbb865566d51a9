// Below the maps: the terms of the chosen cell in every function.

import { make } from "../lib/elements.js";
import { spokenLabel } from "../lib/label_text.js";
import { formatNumber, formatSigned } from "../lib/numbers.js";
import { FLOWS, ONE_FOR_ALL, OVER_PASSAGE, passageCut } from "./model.js";

const TERM_LETTERS = "abcdefgh";

const formatFormula = (name) => name.replaceAll("^t", "ᵗ").replaceAll(" * ", "∗");

/** A term as its name, a bar from the middle, and the number. */
function termRow(name, value, top, total) {
  const bar = make("i");
  const share = top ? (50 * Math.abs(value)) / top : 0;
  Object.assign(bar.style, { left: (value < 0 ? 50 - share : 50) + "%", width: share + "%" });
  return make(
    "div",
    { class: total ? "term total" : "term" },
    make("span", {}, name),
    make("span", { class: "bar" }, bar),
    make("span", { class: "n" }, total ? formatNumber(value) : formatSigned(value)),
  );
}

const labelledLine = (name, value, help) =>
  make(
    "div",
    { class: "line", title: help },
    make("span", {}, name),
    make("span", { class: "n" }, value),
  );

/** Above the terms: the joined words' own pair, which is what the terms are of. */
const pairNote = (pair) =>
  make(
    "p",
    {
      class: "pair",
      title: "The pair of words in this cell that weighs most: joined words have no terms together",
    },
    "of ",
    make("b", {}, pair.words.join(" × ")),
  );

/** The best spans of a panel; the head of a narrow map has no room for long ones. */
function spanNote(data, { spans: [best, next] }) {
  const second = next ? `, next best “${passageCut(data, next)}”` : "";
  return make("p", { class: "answers" }, `answers “${passageCut(data, best)}”` + second);
}

/** Each term on one scale, where there are several, and the score that they add up to. */
function termRows({ terms, pair, score }) {
  const total = pair?.score ?? score; // words that were joined have no terms together
  const top = Math.max(Math.abs(total), ...terms.map(([, value]) => Math.abs(value)));
  const parts = terms.length > 1 ? terms : [];
  return [
    ...parts.map(([name, value]) => termRow(formatFormula(name), value, top, false)),
    termRow("score", total, top, true),
  ];
}

/** A weight with its rank, and what a sentinel takes of its distribution. */
function flowLines(name, { weight, rank, of, sentinel }, help) {
  const line = labelledLine(name, `${formatNumber(weight)}, rank ${rank} of ${of}`, help);
  const share = "The share of these weights that no word has";
  return sentinel
    ? [line, labelledLine("left to the sentinel", formatNumber(sentinel), share)]
    : [line];
}

/** The centred score, and the weight of each flow. */
function weightLines(says, facts) {
  const { over_passage: back, pair, centred } = facts;
  const whose = pair ? "cell's " : "";
  const lines = [
    labelledLine(
      pair ? "cell, centred" : "score minus its row's mean",
      formatSigned(centred),
      says.relevance,
    ),
    ...flowLines(`${whose}weight, ${FLOWS.weight}`, facts, says.weight),
  ];
  if (!back) return lines;
  const help = "How the question attends to the passage word: sums to one over the passage";
  const name = `${whose}weight, ${FLOWS[OVER_PASSAGE]}`;
  return [...lines, ...flowLines(back.one_for_all ? `${name}, ${ONE_FOR_ALL}` : name, back, help)];
}

/** The dimensions with the largest products; of several terms a letter says whose each is. */
function dimensionList({ dimensions, terms, width }) {
  const list = dimensions.map(([term, at, value]) =>
    make(
      "span",
      { title: terms[term][0] },
      make("b", {}, String(at + 1) + (terms.length > 1 ? TERM_LETTERS[term] : "")),
      " " + formatSigned(value),
    ),
  );
  const title = make("span", {}, `strongest of ${width} dimensions`);
  return make("div", { class: "dimensions" }, title, ...list);
}

/** Which terms cancel in the softmax of the shown flow, or why not; may be "". */
export function cancelNote(
  quantity,
  { alike = [], alike_down: alikeDown = [], over_passage: back },
) {
  const list = (names) => names.map(formatFormula).join(", ");
  if (quantity !== OVER_PASSAGE || !back)
    return alike.length
      ? `${list(alike)}: the same for every question word, so the softmax over the question takes it away`
      : "";
  if (back.one_for_all)
    return alike.length
      ? `${list(alike)}: counts here, for the softmax over the passage takes each passage word's highest score`
      : "";
  return alikeDown.length
    ? `${list(alikeDown)}: the same for every passage word, so the softmax over the passage takes it away`
    : "";
}

/** Which letter is which term, and which terms cancel. */
function termLegends(quantity, facts) {
  const letters = facts.terms.map(([name], i) => `${TERM_LETTERS[i]}: ${formatFormula(name)}`);
  return [letters.join(", "), cancelNote(quantity, facts)]
    .filter(Boolean)
    .map((text) => make("div", { class: "dimensions legend" }, text));
}

function factsBlock(data, index, facts, chosen) {
  const panel = data.panels[index];
  const head = make("div", { class: "name" }, panel.title);
  const box = make("div", chosen ? { class: "facts chosen" } : { class: "facts" }, head);
  if (!facts) return (box.append(make("p", {}, "…")), box);
  const [[formula]] = facts.terms;
  const several = facts.terms.length > 1;
  if (!several) head.append(make("span", { title: formula }, " " + formatFormula(formula))); // the one term is the score
  if (facts.pair) head.append(pairNote(facts.pair));
  if (panel.spans[0]) box.append(spanNote(data, panel));
  box.append(...termRows(facts), ...weightLines(data.says, facts), dimensionList(facts));
  if (several) box.append(...termLegends(data.quantity, facts));
  return box;
}

/** Fills the box below the figure; each block under its map, where they find room. */
export function fillTerms(box, data, cell, place) {
  const [q, k] = cell;
  const facts =
    data.answer && data.answer.cell.every((x, axis) => axis === 2 || x === cell[axis])
      ? data.answer.facts
      : null;
  const aligned = place?.across === data.panels.length && place.wide >= 180;
  box.className = aligned ? "below terms aligned" : "below terms";
  box.style.gridTemplateColumns = aligned
    ? `${place.own - 24}px repeat(${data.panels.length}, ${place.wide}px)`
    : "";
  box.style.columnGap = aligned ? "24px" : "";
  const word = (axis, i) => make("b", { class: "ink-" + axis }, spokenLabel(data.axes[axis], i));
  const left = make(
    "div",
    { class: "which" },
    data.folded ? "the cell" : "terms of",
    make("br"),
    " ",
    word("query", q),
    " × ",
    make("br"),
    word("key", k),
  );
  box.replaceChildren(
    left,
    ...data.panels.map((_, i) => factsBlock(data, i, facts?.[i], i === cell[2])),
  );
}
