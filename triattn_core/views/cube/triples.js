// The list of the strongest triples.

import { sum } from "../lib/arrays.js";
import { make } from "../lib/elements.js";
import { spokenLabel } from "../lib/label_text.js";
import { formatChange, formatCount, formatNumber, formatPercent } from "../lib/numbers.js";
import { joinsCells } from "../lib/renderer/description.js";
import { makeWalkable } from "../lib/walk.js";

const TRIPLES_LISTED = 8;

/** A token in a row; where its axis has the same word twice, with its place. */
function tokenCell(tokens, i) {
  const word = spokenLabel(tokens, i);
  const twice = tokens.label.indexOf(tokens.label[i]) !== tokens.label.lastIndexOf(tokens.label[i]);
  return make(
    "td",
    { title: `${word}, ${tokens.where[i]}` },
    word,
    ...(twice ? [make("small", {}, " " + (tokens.special[i] ? i + 1 : tokens.place[i]))] : []),
  );
}

const JOINED = "The model's cells that each joins: large groups hold much because they are large";

export const COST =
  "Cost if removed: the log-odds of the answer, less those with this one weight at zero and the rest of its query scaled up; above zero it speaks for the answer";

/** The triples that are listed: without special tokens, until those are unfolded. */
export const listedTriples = ({ triples, words, unfolded }) => (unfolded ? triples : words);

/** What a triple's size is: its share of all mass, its weight over an even one, or its value. */
function measureOf(payload, open) {
  const { cells, share, value } = listedTriples(payload);
  if (payload.against) {
    const sizes = value.map((size, n) => size * open(cells[n]));
    const format = (size) => "× " + formatNumber(size);
    return { sizes, unit: "× even", says: "The weight over an even share", format };
  }
  if (payload.quantity === "weight" && share[0] !== null) {
    return { sizes: share, unit: "share", says: "Share of all mass", format: formatPercent };
  }
  return { sizes: value, unit: payload.quantity, says: payload.quantity, format: formatNumber };
}

function headRow(payload, { unit, says }, folded) {
  const light = { scope: "col", style: "font-weight:400" };
  const axes = payload.order.map((axis) =>
    make("th", { ...light, class: "ink " + axis }, payload.roles[axis]),
  );
  const joined = folded ? [make("th", { ...light, title: JOINED }, "cells")] : [];
  const rank = make("th", { ...light, title: "rank" }, "#");
  const bar = make("td", { class: "bar" });
  const size = make("th", { ...light, class: "size", title: says }, unit);
  const cost = payload.costed ? [make("th", { ...light, class: "cost", title: COST }, "cost")] : [];
  return make("tr", {}, rank, ...axes, ...joined, bar, size, ...cost);
}

/** A triple: rank, tokens, how many cells it joins, a bar of `length` per cent, size, cost. */
function tripleRow(payload, cell, rank, length, size, folded) {
  const axes = payload.order.map((axis) => payload.axes[axis]);
  const words = cell.map((i, a) => tokenCell(axes[a], i));
  const joined = cell.reduce((product, i, a) => product * axes[a].cells[i], 1);
  const count = folded ? [make("td", {}, formatCount(joined))] : [];
  const bar = make("i");
  bar.style.width = length + "%";
  const drawn = make("td", { class: "bar", "aria-hidden": "true" }, bar);
  const cost = payload.costed ? [make("td", { class: "cost" }, "…")] : [];
  const cells = [make("td", {}, rank), ...words, ...count, drawn, size, ...cost];
  return make("tr", { tabindex: "0" }, ...cells);
}

/** The button that folds and unfolds cells with a special token, with the share that they hold. */
function foldOf({ special, unfolded }, fold) {
  if (!special) return [];
  const held = `Cells with a special token hold ${formatPercent(special)} of the mass`;
  const text = unfolded ? `${held}: leave them out` : `${held}: list them too`;
  const button = make("button", { type: "button", class: "fold", "aria-expanded": unfolded }, text);
  button.addEventListener("click", () => fold(!unfolded));
  return [button];
}

function titleOf({ quantity, against }) {
  if (quantity !== "weight") return "Highest relevance";
  return against ? "Strongest against an even share" : "Strongest triples";
}

/** How much of the mass the listed triples hold, what is hidden; behind a mark how it is known. */
function notesOf(payload, listed) {
  const { share } = listedTriples(payload);
  const { hidden, check, costed } = payload;
  const failed = check?.includes("failed");
  const [some, all] = [listed.length, payload.cells].map(formatCount);
  const held = formatPercent(sum(share.slice(0, listed.length)));
  const known = (share[0] ?? null) !== null;
  const seen = [
    known && `${some} of ${all} cells hold ${held} of the mass.`,
    hidden,
    failed && check,
  ];
  const folded = [costed && `${COST}.`, !failed && check].filter(Boolean);
  const summary = make("summary", {}, "How it is measured");
  const details = make("details", {}, summary, make("div", {}, folded.join(" ")));
  return make(
    "div",
    { class: "notes" },
    seen.filter(Boolean).join(" "),
    ...(folded.length ? [details] : []),
  );
}

/**
 * The table with its rows and the cells that these list, and what stands below it.  choose(cell):
 * what a click does; open(cell): how many cells of its distribution no mask leaves out;
 * fold(unfolded): lists special tokens too, or no longer; showCosts(costOf): fills in what is
 * known, by cell.
 */
export function triplesTable(payload, choose, open, fold) {
  const listed = listedTriples(payload).cells.slice(0, TRIPLES_LISTED);
  const measure = measureOf(payload, open);
  const { sizes, format } = measure;
  const folded = joinsCells(payload);
  const top = Math.max(...sizes.map(Math.abs), 1e-30);
  const rows = listed.map((cell, n) => {
    const size = make("td", { class: "size" }, format(sizes[n]));
    return tripleRow(payload, cell, n + 1, (100 * Math.abs(sizes[n])) / top, size, folded);
  });
  makeWalkable(rows, (n) => choose(listed[n]));
  const caption = make("caption", {}, titleOf(payload));
  const head = make("thead", {}, headRow(payload, measure, folded));
  const table = make("table", {}, caption, head, make("tbody", {}, ...rows));
  const showCosts = (costOf) =>
    rows.forEach((row, n) => {
      const cost = costOf(listed[n]);
      if (payload.costed && cost !== undefined) row.lastChild.textContent = formatChange(cost, 3);
    });
  const below = [...foldOf(payload, fold), notesOf(payload, listed)];
  return { table, listed, rows, below, showCosts };
}
