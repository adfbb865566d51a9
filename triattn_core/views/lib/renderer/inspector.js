// Beside slices: the chosen cell in words and numbers, the untouched texts, the strongest cells.

import { make, markSpans, setLanguage } from "../elements.js";
import { spokenLabel } from "../labels.js";
import { formatChange, formatCount, formatNumber, formatPercent } from "../numbers.js";
import { makeWalkable } from "../walk.js";
import { isKnown, joinsCells, sayNumber, sayValue, valueAt } from "./description.js";
import { sentenceNodes, spansOf } from "./readout.js";

const ALL_TEXTS = 3; // with more of them, those without a mark are left out
const LISTED = 8;
const LIGHT = { scope: "col", style: "font-weight:400" };
const JOINED = "The model's cells that each joins: large groups hold much because they are large";

/** A word with the chosen piece in full ink and the rest of its word pale: brows|ers. */
function wordNodes({ joined, name }, i) {
  let [first, last] = [i, i];
  while (joined[first] && first > 0) first--;
  while (joined[last + 1]) last++;
  const pale = (from, to) => (from < to ? [make("i", {}, name.slice(from, to).join(""))] : []);
  return [...pale(first, i), name[i], ...pale(i + 1, last + 1)];
}

/** How far down a text its first token stands: of a long passage a model reads a part. */
function firstReadOffset(span, axes) {
  const name = span.dataset.text;
  const starts = axes.flatMap(({ start, text }) => start.filter((_, i) => text[i] === name));
  if (!starts.length || !span.firstChild) return 0;
  const range = document.createRange();
  range.setStart(span.firstChild, Math.min(...starts));
  return range.getBoundingClientRect().top - span.getBoundingClientRect().top + span.scrollTop;
}

/** Names, numbers and what they mean; dots for what is not known yet. */
function factNodes(data, cell, cost) {
  const [panel] = data.panels;
  const { columns, numbers } = data.readout;
  const rows = columns.map(([name, help], i) => {
    const known = valueAt(data, panel, numbers[0][i].array, cell) !== undefined;
    return [name, known ? sayNumber(data, numbers[0][i], panel, cell) : "…", help];
  });
  if (data.costed) {
    const said = cost === undefined ? "…" : formatChange(cost, 3);
    rows.push(["cost if removed", said, data.costed]);
  }
  return rows.flatMap(([name, value, help]) => [
    make("dt", { title: help }, name),
    make("dd", {}, value),
  ]);
}

/** A token in a row; where its axis has the same word twice, with its place. */
function tokenCell(tokens, i) {
  const word = spokenLabel(tokens, i);
  const twice = tokens.label.indexOf(tokens.label[i]) !== tokens.label.lastIndexOf(tokens.label[i]);
  const place = twice ? [make("small", {}, ` ${tokens.special[i] ? i + 1 : tokens.place[i]}`)] : [];
  return make("td", { title: `${word}, ${tokens.where[i]}` }, word, ...place);
}

/** The list: a row has its rank, its tokens, how many cells it joins, a bar, its size, its cost. */
function listTable(data) {
  const axes = Object.entries(data.axes);
  const { title, unit, help, format, times, over } = data.inspector.measure;
  const { cells, value } = data.list;
  const at = (name, n) => (name ? valueAt(data, data.panels[0], name, cells[n]) : 1);
  const sizes = value.map((one, n) => one && (one * at(times, n)) / at(over, n));
  const folded = joinsCells(data);
  const top = Math.max(...sizes.map(Math.abs), 1e-30);
  const rows = cells.slice(0, LISTED).map((cell, n) => {
    const joined = axes.reduce((product, [, one], a) => product * one.cells[cell[a]], 1);
    const bar = make("i");
    bar.style.width = (100 * Math.abs(sizes[n])) / top + "%";
    return make(
      "tr",
      { tabindex: "0" },
      make("td", {}, n + 1),
      ...axes.map(([, tokens], a) => tokenCell(tokens, cell[a])),
      ...(folded ? [make("td", {}, formatCount(joined))] : []),
      make("td", { class: "bar", "aria-hidden": "true" }, bar),
      make("td", { class: "size" }, sayValue(sizes[n], format)),
      ...(data.costed ? [make("td", { class: "cost" }, "…")] : []),
    );
  });
  const costs = { ...LIGHT, class: "cost", title: data.costed };
  const heads = make(
    "tr",
    {},
    make("th", { ...LIGHT, title: "rank" }, "#"),
    ...axes.map(([, one]) => make("th", { ...LIGHT, class: `ink-${one.ink}` }, one.title)),
    ...(folded ? [make("th", { ...LIGHT, title: JOINED }, "cells")] : []),
    make("td", { class: "bar" }),
    make("th", { ...LIGHT, class: "size", title: help }, unit),
    ...(data.costed ? [make("th", costs, "cost")] : []),
  );
  const body = [make("thead", {}, heads), make("tbody", {}, ...rows)];
  return [make("table", {}, make("caption", {}, title), ...body), rows];
}

/** The button that folds and unfolds cells with a special token, with the share that they hold. */
function foldOf({ inspector: { special }, unfolded = false }, fold) {
  if (!special) return [];
  const then = unfolded ? "leave them out" : "list them too";
  const text = `Cells with a special token hold ${formatPercent(special)} of the mass: ${then}`;
  const button = make("button", { type: "button", class: "fold", "aria-expanded": unfolded }, text);
  button.addEventListener("click", () => fold(!unfolded));
  return [button];
}

/** How much of the mass the listed cells hold, what is hidden; behind a mark how it is known. */
function notesOf({ inspector, list, costed }) {
  const { hidden, check, cells } = inspector;
  const failed = check.includes("failed");
  const count = `${Math.min(list.cells.length, LISTED)} of ${formatCount(cells)} cells`;
  const held = list.held !== null && `${count} hold ${formatPercent(list.held)} of the mass.`;
  const [seen, behind] = [
    [held, hidden, failed && check],
    [costed && `${costed}.`, !failed && check],
  ].map((parts) => parts.filter(Boolean).join(" "));
  const summary = make("summary", {}, "How it is measured");
  const details = behind ? [make("details", {}, summary, make("div", {}, behind))] : [];
  return make("div", { class: "notes" }, seen, ...details);
}

/**
 * Fills `box`; choose(cell), fold(unfolded): what clicks do.  Returns update(cell, costOf), which
 * shows a cell; costOf(cell): what the answer loses without it, undefined where nobody knows.
 */
export function buildInspector(box, data, choose, fold) {
  const { says, unit } = data.inspector;
  const axes = Object.values(data.axes);
  const words = Object.keys(data.axes).map((axis) =>
    make("div", { class: axis, title: says[axis] }),
  );
  const [strong, facts] = [make("strong"), make("dl")];
  const small = make("small", { title: says.quantity }, unit);
  const sentence = make("p", { class: "sentence", "aria-live": "polite" });
  const texts = Object.keys(data.texts).map((name) =>
    setLanguage(make("span", { dir: "auto", "data-text": name }), data.texts[name]),
  );
  const named = texts.map((span) => {
    const { long, short } = data.names[span.dataset.text];
    return make("p", {}, make("span", { title: long }, short), span);
  });
  const [table, rows] = listTable(data);
  makeWalkable(rows, (n) => choose(data.list.cells[n]));
  const marked = "The texts with the chosen tokens marked";
  box.replaceChildren(
    make(
      "div",
      {},
      make("div", { class: "words" }, ...words),
      make("div", { class: "value" }, make("div", {}, strong, small), facts),
      sentence,
      make("div", { class: "texts", "aria-label": marked }, ...named),
    ),
    make("div", {}, table, ...foldOf(data, fold), notesOf(data)),
  );
  return (cell, costOf) => {
    axes.forEach((tokens, a) => {
      const word = make("b", { title: tokens.name[cell[a]] }, ...wordNodes(tokens, cell[a]));
      words[a].replaceChildren(tokens.title, word, tokens.where[cell[a]]);
    });
    const value = valueAt(data, data.panels[0], data.inspector.quantity, cell);
    strong.textContent = (isKnown(data, cell) ? "" : "≈ ") + formatNumber(value);
    facts.replaceChildren(...factNodes(data, cell, costOf(cell)));
    sentence.replaceChildren(...sentenceNodes(data, data.readout.sentences[0], cell));
    texts.forEach((span) => {
      const { text: name } = span.dataset;
      span.replaceChildren(...markSpans(data.texts[name], spansOf(data, name, cell)));
      const mark = span.querySelector("mark");
      span.scrollTop = (mark ? mark.offsetTop : firstReadOffset(span, axes)) - 26;
      span.parentElement.hidden = texts.length > ALL_TEXTS && !mark;
    });
    rows.forEach((row, n) => {
      const one = data.list.cells[n];
      row.setAttribute("aria-selected", String(one.every((x, a) => x === cell[a])));
      const cost = costOf(one);
      if (data.costed && cost !== undefined) row.lastChild.textContent = formatChange(cost, 3);
    });
  };
}
