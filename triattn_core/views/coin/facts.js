// Below COIN's blocks: the untouched sentences with the chosen tokens marked, the exact numbers of
// the chosen pair in every block, and the command that gives them.

import { nearestLiveCell } from "./cell_choice.js";
import { factColumns, formatMiddleHalf } from "./columns.js";
import { AXIS } from "./model.js";
import { make } from "../lib/elements.js";
import { chosenSpans, classBelow, factsTable, textLine } from "../lib/facts.js";
import { spokenLabel } from "../lib/label_text.js";
import { axisSize, flatIndex } from "../lib/map_data.js";
import { formatNumber, formatPercent, formatSigned } from "../lib/numbers.js";

/** The numbers of the chosen pair, a row a block. */
function blocksTable(data, cell) {
  const columns = factColumns(data, cell);
  const off = [make("td", { colspan: columns.length, class: "off" }, "ablated")];
  const rows = data.blocks.map((block, i) => {
    const cells = block ? columns.map(([, , format]) => format(block)) : off;
    return { name: `block ${i + 1}`, cells, chosen: i === cell[2] };
  });
  const [query, key] = [data.axes.query, data.axes.key];
  const pair = `${spokenLabel(query, cell[0])} to ${spokenLabel(key, cell[1])}`;
  return factsTable(pair, columns, rows);
}

/** One plain sentence about the chosen cell. */
function describePair(data, cell, chosenCell) {
  const block = data.blocks[cell[2]];
  const i = flatIndex(data, cell);
  const off = chosenCell[2] === cell[2] ? "" : ` Block ${chosenCell[2] + 1} is ablated.`;
  const query = make("span", { class: "ink-query" }, spokenLabel(data.axes.query, cell[0]));
  const key = make("span", { class: "ink-key" }, spokenLabel(data.axes.key, cell[1]));
  if (!block) return [`Block ${cell[2] + 1} is ablated.`];
  const without = block.plain
    ? [`, ${formatPercent(block.plain[i])} without the context term`]
    : [];
  return [
    `In block ${cell[2] + 1}, `,
    query,
    ` gives ${formatPercent(block.weight[i])} of its weight to `,
    key,
    ...without,
    `.${off}`,
  ];
}

/** What prints the numbers of the chosen block again. */
function commandFor(data, cell) {
  const [q, k, number, f, a, b] = cell;
  const block = data.blocks[number];
  const { input, run, way } = data.command;
  const [first, second] = way.split("_over_");
  if (!block) return "";
  const sites = [[`${way}/weight`, q, k]];
  if (block.plain) sites.push([`${way}/without_context/weight`, q, k]);
  if (block.own.length)
    sites.push([`${first}_over_${first}/weight`, q, a], [`${second}_over_${second}/weight`, k, b]);
  if (block.features) sites.push([`${way}/gate`, q, f]);
  return [
    input,
    [
      run,
      ...sites.map(([site, from, to]) => `  --cell layer.${number}/${site} ${from},${to}`),
    ].join(" \\\n"),
  ].join("\n");
}

/** Fills the box below the figure. */
export function fillFacts(box, data, chosenCell) {
  const cell = nearestLiveCell(data, chosenCell) ?? chosenCell;
  const open = box.querySelector("details")?.open;
  classBelow(box, data);
  const texts = Object.keys(data.texts).map((name) =>
    textLine(data, name, chosenSpans(data, name, cell)),
  );
  const sentence = make("p", { class: "sentence" }, ...describePair(data, cell, chosenCell));
  const left = make("div", {}, make("div", { class: "texts" }, ...texts), sentence);
  const right = make("div", { class: "scroll" }, blocksTable(data, cell));
  const command = commandFor(data, cell);
  if (command) {
    const summary = make("summary", {}, "The command that prints these numbers");
    right.append(make("details", open ? { open: "" } : {}, summary, make("pre", {}, command)));
  }
  box.replaceChildren(left, right);
}

/** What is said of a cell, for the tooltip and for a screen reader. */
export function describeCell(data, chosenCell) {
  const cell = nearestLiveCell(data, chosenCell) ?? chosenCell;
  const [q, k, number_, f, a, b] = cell;
  const block = data.blocks[number_];
  const i = flatIndex(data, cell);
  const { query, key } = data.axes;
  if (cell.own && block?.own.length) {
    const s = AXIS[cell.own];
    const [from, to] = s ? [k, b] : [q, a];
    const tokens = data.axes[cell.own];
    return [
      `${spokenLabel(tokens, from)} over ${spokenLabel(tokens, to)}`,
      `block ${number_ + 1}, self-alignment ${formatNumber(block.own[s][from * axisSize(data, cell.own) + to])}`,
    ];
  }
  const pair = `${spokenLabel(query, q)} to ${spokenLabel(key, k)}`;
  if (!block) return [pair, `block ${number_ + 1} is ablated`];
  if (cell.gate)
    return [
      spokenLabel(query, q),
      `block ${number_ + 1}, feature ${f + 1}: keeps ${formatNumber(block.features[q * data.wide + f])}`,
    ];
  const without = block.plain
    ? [`without context ${formatNumber(block.plain[i])}, ${formatSigned(block.changed[i])}`]
    : [];
  return [
    pair,
    `block ${number_ + 1}: ${formatNumber(block.weight[i])}`,
    ...without,
    ...(block.gate
      ? [
          `gate of “${spokenLabel(query, q)}” ${formatNumber(block.gate[q])}, half of its features ${formatMiddleHalf(block, q)}`,
        ]
      : []),
  ];
}
