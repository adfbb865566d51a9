// Below the maps: the untouched text with the chosen tokens marked, one plain sentence, and the
// exact numbers of the chosen pair in every map that is drawn.

import { countOpenKeys, evenShare, isMasked, rankOf } from "./model.js";
import { sum } from "../lib/arrays.js";
import { make } from "../lib/elements.js";
import { chosenSpans, classBelow, factsTable, textLine } from "../lib/facts.js";
import { spokenLabel } from "../lib/label_text.js";
import { flatIndex } from "../lib/map_data.js";
import { formatNumber, formatPercent } from "../lib/numbers.js";

const AS_DRAWN = "What the map shows: the score as its softmax takes it, minus its mean over keys";

/**
 * What stands beside a weight: in a map of scores what is drawn; and the score as it is, where
 * there is one.
 */
const formatScores = (data, drawn, score) => [
  ...(data.quantity === "weight" ? [] : [formatNumber(drawn)]),
  ...(score === undefined ? [] : [formatNumber(score)]),
];

function pairRow(data, panel, cell) {
  const left = countOpenKeys(data, panel, cell[0]);
  const i = flatIndex(data, cell);
  const scores = formatScores(data, panel.exact[i], panel.score?.[i]);
  if (isMasked(data, panel, cell)) return ["masked", ...scores.map(() => ""), "", ""];
  return [
    formatNumber(panel.weight[i]),
    ...scores,
    `${rankOf(data, panel, cell)} of ${left}`,
    "× " + formatNumber(panel.weight[i] / evenShare(data, panel, cell)),
  ];
}

/** Of the chosen head, what its dependent has by itself: its name, and the same columns. */
function sourceRows(data, cell) {
  const [, k, at, f] = cell;
  const panel = data.panels[at];
  const { cells } = data.axes.key;
  const head = panel.title.split(",")[0];
  if (!panel.mean) return [];
  const line = (name, weights, drawn, scores) => {
    const rank = 1 + weights.filter((one) => one > weights[k]).length;
    return [
      `${head}: source2token, ${name}`,
      [
        formatNumber(weights[k]),
        ...formatScores(data, drawn[k], scores?.[k]),
        `${rank} of ${weights.length}`,
        "× " + formatNumber((weights[k] * sum(cells)) / cells[k]),
      ],
    ];
  };
  const rows = [line("mean", panel.meanWeight, panel.mean, panel.meanScore)];
  if (!data.wide) return rows;
  const column = (values) => values?.filter((_, i) => i % data.wide === f);
  return [
    ...rows,
    line(
      `feature ${panel.order[f] + 1}`,
      ...[panel.sourceWeight, panel.source, panel.sourceScore].map(column),
    ),
  ];
}

/** The numbers of the chosen pair, a row a map; below them source2token of the chosen head. */
function mapsTable(data, cell) {
  const drawn = data.quantity === "weight" ? [] : [["as drawn", AS_DRAWN]];
  const score = data.panels[0].score ? [["score", data.says.relevance]] : [];
  const columns = [
    ["weight", data.says.weight],
    ...drawn,
    ...score,
    ["rank", "Largest weight first, among what may be attended to"],
    ["against even", "The weight over an even share of what the mask leaves"],
  ];
  const [query, key] = [data.axes.query, data.axes.key];
  const pair = `${spokenLabel(query, cell[0])} to ${spokenLabel(key, cell[1])}`;
  const rows = data.panels.map((panel, i) => {
    return { name: panel.title, cells: pairRow(data, panel, cell), chosen: i === cell[2] };
  });
  const source = sourceRows(data, cell).map(([name, cells]) => ({ name, cells }));
  return factsTable(pair, columns, [...rows, ...source]);
}

/** One plain sentence about the chosen cell. */
function describePair(data, cell) {
  const [q, k, , f] = cell;
  const panel = data.panels[cell[2]];
  const governor = make("span", { class: "ink-query" }, spokenLabel(data.axes.query, q));
  const dependent = make("span", { class: "ink-key" }, spokenLabel(data.axes.key, k));
  const alone =
    panel.mean && data.quantity === "weight"
      ? [
          ` By itself, “${spokenLabel(data.axes.key, k)}” holds ${formatPercent(panel.mean[k])} of source2token on average` +
            (data.wide
              ? `, and ${formatPercent(panel.source[k * data.wide + f])} in feature ${panel.order[f] + 1}.`
              : "."),
        ]
      : [];
  if (!countOpenKeys(data, panel, q))
    return [
      governor,
      ` is left nothing to attend to in ${panel.title}: its row is zeros.`,
      ...alone,
    ];
  if (isMasked(data, panel, cell))
    return [governor, " may not attend to ", dependent, ` in ${panel.title}.`, ...alone];
  return [
    `In ${panel.title}, `,
    governor,
    ` gives ${formatPercent(panel.weight[flatIndex(data, cell)])} of its ${panel.score && panel.mean ? "token2token " : ""}weight to `,
    dependent,
    ".",
    ...alone,
  ];
}

/** Fills the box below the figure. */
export function fillFacts(box, data, cell) {
  classBelow(box, data);
  const lines = Object.keys(data.texts).flatMap((name) => {
    const spans = chosenSpans(data, name, cell);
    return spans.length ? [textLine(data, name, spans)] : [];
  });
  const texts = make("div", { class: "texts capped" }, ...lines);
  const top = box.querySelector(".texts")?.scrollTop ?? 0;
  const left = make(
    "div",
    {},
    texts,
    make("p", { class: "sentence" }, ...describePair(data, cell)),
  );
  box.replaceChildren(left, make("div", { class: "scroll" }, mapsTable(data, cell)));
  texts.scrollTop = top;
  for (const mark of texts.querySelectorAll("mark")) scrollIntoBox(texts, mark);
}

/** Scrolls a box, and nothing around it, until what it holds is seen. */
function scrollIntoBox(box, part) {
  const [outer, inner] = [box, part].map((one) => one.getBoundingClientRect());
  if (inner.top < outer.top) box.scrollTop += inner.top - outer.top;
  if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

/** What is said of a cell, for the tooltip and for a screen reader. */
export function describeCell(data, cell) {
  const [q, k, index, f] = cell;
  const panel = data.panels[index];
  const value = isMasked(data, panel, cell)
    ? "masked"
    : formatNumber(panel.exact[flatIndex(data, cell)]);
  const source = data.wide
    ? [
        `source2token of “${spokenLabel(data.axes.key, k)}”, feature ${panel.order[f] + 1}: ${formatNumber(panel.source[k * data.wide + f])}`,
      ]
    : [];
  return [
    `${spokenLabel(data.axes.query, q)} to ${spokenLabel(data.axes.key, k)}`,
    `${panel.title} ${value}`,
    ...source,
  ];
}
