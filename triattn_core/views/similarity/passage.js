// Above the maps: the untouched passage with the answers marked.

import { make, setLanguage } from "../lib/elements.js";
import { formatProbability } from "../lib/numbers.js";
import { passageCut, passageLetters } from "./model.js";

/**
 * The passage in pieces: the chosen function's answer, its next best and the chosen word wear a
 * mark.
 */
export function fillPassage(box, data, [q, , index]) {
  const {
    title,
    spans: [best, next],
  } = data.panels[index];
  const { query } = data.axes;
  const letters = passageLetters(data);
  const marks = [
    [best, "answer"],
    [next, "next"],
    [[query.start[q], query.end[q]], "query"],
  ]
    .filter(([span]) => span)
    .map(([[start, end, p], name]) => ({ start, end, p, name }));
  const cuts = [
    ...new Set([0, letters.length, ...marks.flatMap(({ start, end }) => [start, end])]),
  ].sort((a, b) => a - b);
  const pieces = cuts.slice(1).flatMap((end, i) => {
    const words = letters.slice(cuts[i], end).join("");
    const over = marks.filter((one) => one.start <= cuts[i] && one.end >= end);
    const closed = over
      .filter((one) => one.end === end && one.p !== undefined)
      .map((one) =>
        make(
          "small",
          {
            class: one.name,
            title:
              one.name === "answer" ? "probability of the answer" : "probability of the next best",
          },
          formatProbability(one.p),
        ),
      );
    return over.length
      ? [make("mark", { class: over.map((one) => one.name).join(" ") }, words), ...closed]
      : [words];
  });
  const told = [
    make("b", {}, title),
    " answers ",
    make("mark", { class: "answer" }, best ? passageCut(data, best) : "nothing"),
    ...(next ? ["next best ", make("mark", { class: "next" }, passageCut(data, next))] : []),
  ];
  const words = make(
    "p",
    { class: letters.length > 1100 ? "passage long" : "passage", dir: "auto", tabindex: "0" },
    ...pieces,
  );
  setLanguage(words, data.texts.passage);
  box.replaceChildren(
    make("p", { class: "told" }, ...told, make("span", {}, data.counted ?? "")),
    words,
    ...(data.flow ? [make("p", { class: "flow" }, data.flow)] : []),
  );
  const mark = words.querySelector("mark.query") ?? words.querySelector("mark");
  if (mark) words.scrollTop = mark.offsetTop - words.offsetTop - 40;
}
