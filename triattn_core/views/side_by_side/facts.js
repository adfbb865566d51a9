// Below the maps: the untouched sentences with the chosen tokens marked, and the exact numbers of
// the chosen cell.

import { mean } from "../lib/arrays.js";
import { make } from "../lib/elements.js";
import { classBelow, factsTable, textLine } from "../lib/facts.js";
import { spokenLabel } from "../lib/label_text.js";
import { flatIndex } from "../lib/map_data.js";
import { formatNumber } from "../lib/numbers.js";
import { countKeys, evenShare, formatValue } from "./model.js";

const ALL_TEXTS = 4; // with more of them, those without a mark are left out

/** The spans of a text that the chosen tokens stand on, also where it is the text after an edit. */
function spansOf(data, name, cell) {
  return ["query", "key"].flatMap((axis, a) => {
    const tokens = data.axes[axis];
    const i = cell[a];
    const mark = (start, end) => [{ axis: axis === "key" ? data.across : axis, start, end }];
    if (tokens.also?.[i] && name === "edited " + tokens.text[i]) return mark(...tokens.also[i]);
    return tokens.text[i] === name ? mark(tokens.start[i], tokens.end[i]) : [];
  });
}

/** The columns: [name, what it means, the text for a panel at a cell]. */
function factColumns(data) {
  const keys = data.axes.key.label.length;
  const { query, key } = data.roles;
  const best = (panel, q) => panel.rank.indexOf(1, q * keys) % keys;
  const shownKey = (panel, [q]) => {
    const k = panel.rank.subarray(q * keys, (q + 1) * keys).includes(1) ? best(panel, q) : -1;
    return k < 0
      ? data.hidden[0]
        ? "hidden"
        : "none"
      : `${spokenLabel(data.axes.key, k)} ${formatNumber(panel.weight[q * keys + k])}`;
  };
  const relevance = [
    "relevance",
    "The score before the softmax, centred: minus the mean of this row",
    (p, c) => formatValue(p.exact[flatIndex(data, c)]),
  ];
  return [
    ...(data.quantity === "relevance" ? [relevance] : []),
    ["weight", data.says.weight, (p, c) => formatValue(p.weight[flatIndex(data, c)])],
    [
      "rank in its row",
      `1 is the largest weight of this ${query}`,
      (p, c) =>
        Number.isNaN(p.weight[flatIndex(data, c)])
          ? "–"
          : `${p.rank[flatIndex(data, c)]} of ${countKeys(data, p, c[0], keys)}`,
    ],
    [
      "against uniform",
      "The weight over what even attention would give this cell",
      (p, c) =>
        Number.isNaN(p.weight[flatIndex(data, c)])
          ? "–"
          : "× " + formatNumber(p.weight[flatIndex(data, c)] / evenShare(data, p, c)),
    ],
    [
      "row entropy, bits",
      `How spread this ${query}'s weights are: 0 is one ${key}, the most is an even share for all`,
      (p, c) =>
        p.entropy[c[0]] === null
          ? "–"
          : `${formatNumber(p.entropy[c[0]])} of ${formatNumber(Math.log2(countKeys(data, p, c[0], keys)))}`,
    ],
    [
      `strongest ${key} of this ${query}`,
      `The ${key} with the largest weight, and that weight`,
      shownKey,
    ],
  ];
}

/** The numbers of the chosen cell, a row a map. */
function panelsTable(data, cell, theme) {
  const columns = factColumns(data);
  const rows = data.panels.map((panel) => {
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = theme[panel.mechanism] ?? theme.bar;
    const cells = columns.map(([, , format]) => format(panel, cell));
    return { name: [swatch, panel.title], cells, main: true, help: panel.name };
  });
  return factsTable(data.what, columns, rows);
}

/** One plain sentence about the difference at this cell. */
function describeDifference(data, cell) {
  const { gap } = data;
  const { key } = data.roles;
  const keys = key === data.across ? `${key}s` : `${key} positions`;
  const name = spokenLabel(data.axes.query, cell[0]);
  if (!gap) return [];
  if (data.hidden[0] + data.axes.key.label.length === 1)
    return [
      `As this is read there is one ${data.roles.key}: every weight is 1, nothing to compare.`,
    ];
  const there = gap.divergence.filter((v) => v !== null);
  const bits = gap.divergence[cell[0]];
  const same = gap.overlap?.[cell[0]] ?? null;
  const within = gap.within?.[flatIndex(data, cell)] ? ", no more than between seeds" : "";
  const first = [
    make("b", {}, `${gap.title} ${formatValue(gap.exact[flatIndex(data, cell)], true)}`),
    ` in this cell${within}. `,
  ];
  if (bits === null)
    return [
      ...first,
      make("span", { class: "ink-query" }, name),
      " stands in one of the inputs only: there is no row to compare.",
    ];
  const top =
    same === null
      ? ""
      : ` Of their ${gap.top} strongest ${keys} ${same} ${same === 1 ? "is" : "are"} the same (by chance ${formatNumber(gap.chance)}).`;
  return [
    ...first,
    "The two rows of ",
    make("span", { class: "ink-query" }, name),
    ` differ by ${formatNumber(bits)} bits of 1 (Jensen–Shannon); over all queries the mean is ${formatNumber(mean(there))}.${top}`,
  ];
}

/** Fills the box below the figure; of many texts those that a chosen token is in. */
export function fillFacts(box, data, cell, theme) {
  classBelow(box, data);
  const names = Object.keys(data.texts);
  const lines = names.flatMap((name) => {
    const spans = spansOf(data, name, cell);
    return names.length > ALL_TEXTS && !spans.length ? [] : [textLine(data, name, spans)];
  });
  const texts = make("div", { class: "texts" }, ...lines);
  const top = box.querySelector(".texts")?.scrollTop ?? 0;
  const sentence = make("p", { class: "sentence" }, ...describeDifference(data, cell));
  const right = make("div", { class: "scroll" }, panelsTable(data, cell, theme), sentence);
  box.replaceChildren(texts, right);
  texts.scrollTop = top;
}

/** What is said of a cell, for the tooltip and for a screen reader. */
export function describeCell(data, cell) {
  const { query, key } = data.axes;
  const parts = data.panels.map(
    (panel) => `${panel.title} ${formatValue(panel.exact[flatIndex(data, cell)])}`,
  );
  return [
    `${spokenLabel(query, cell[0])} to ${spokenLabel(key, cell[1])}`,
    ...parts,
    ...(data.gap
      ? [
          `${data.gap.title} ${formatValue(data.gap.exact[flatIndex(data, cell)], true)}${data.gap.within?.[flatIndex(data, cell)] ? ", no more than between seeds" : ""}`,
        ]
      : []),
  ];
}
