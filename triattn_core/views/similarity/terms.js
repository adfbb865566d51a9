// Below the maps: the terms of the chosen cell in every function.

import { make } from "../lib/elements.js";
import { spokenLabel } from "../lib/label_text.js";
import { formatNumber, formatSigned } from "../lib/numbers.js";
import { passageCut } from "./model.js";

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

function factsBlock(data, index, facts, chosen) {
  const head = make("div", { class: "name" }, data.panels[index].title);
  const box = make("div", chosen ? { class: "facts chosen" } : { class: "facts" }, head);
  if (!facts) return (box.append(make("p", {}, "…")), box);
  const several = facts.terms.length > 1;
  if (!several)
    head.append(make("span", { title: facts.terms[0][0] }, " " + formatFormula(facts.terms[0][0]))); // the one term is the score
  const {
    spans: [best, next],
  } = data.panels[index]; // the head of a narrow map has no room for long ones
  if (best)
    box.append(
      make(
        "p",
        { class: "answers" },
        `answers “${passageCut(data, best)}”` +
          (next ? `, next best “${passageCut(data, next)}”` : ""),
      ),
    );
  const whole = facts.pair?.score ?? facts.score; // words that were joined have no terms together
  if (facts.pair)
    head.append(
      make(
        "p",
        {
          class: "pair",
          title:
            "The pair of words in this cell that weighs most: joined words have no terms together",
        },
        "of ",
        make("b", {}, facts.pair.words.join(" × ")),
      ),
    );
  const top = Math.max(Math.abs(whole), ...facts.terms.map(([, value]) => Math.abs(value)));
  const line = (name, told, help) =>
    make(
      "div",
      { class: "line", title: help },
      make("span", {}, name),
      make("span", { class: "n" }, told),
    );
  const rows = [
    ...(several
      ? facts.terms.map(([name, value]) => termRow(formatFormula(name), value, top, false))
      : []),
    termRow("score", whole, top, true),
  ];
  box.append(
    ...rows,
    line(
      facts.pair ? "cell, centred" : "score minus its row's mean",
      formatSigned(facts.centred),
      data.says.relevance,
    ),
    line(
      facts.pair ? "cell, weight" : "weight",
      `${formatNumber(facts.weight)}, rank ${facts.rank} of ${facts.of}`,
      data.says.weight,
    ),
  );
  const back = facts.over_passage;
  if (back)
    box.append(
      line(
        "weight over the passage",
        `${formatNumber(back.weight)}, rank ${back.rank} of ${back.of}`,
        "How the question word attends to the passage word: sums to one over the passage",
      ),
    );
  const list = facts.dimensions.map(([term, at, value]) =>
    make(
      "span",
      { title: facts.terms[term][0] },
      make("b", {}, String(at + 1) + (several ? "abcdefgh"[term] : "")),
      " " + formatSigned(value),
    ),
  );
  box.append(
    make(
      "div",
      { class: "dimensions" },
      make("span", {}, `strongest of ${facts.width} dimensions`),
      ...list,
    ),
  );
  if (several)
    box.append(
      make(
        "div",
        { class: "dimensions legend" },
        facts.terms.map(([name], i) => `${"abcdefgh"[i]}: ${formatFormula(name)}`).join(", "),
      ),
    );
  if (several && facts.alike?.length)
    box.append(
      make(
        "div",
        { class: "dimensions legend" },
        `${facts.alike.map(formatFormula).join(", ")}: the same for every question word, so the softmax takes it away`,
      ),
    );
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
    data.notes ? "the cell" : "terms of",
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
