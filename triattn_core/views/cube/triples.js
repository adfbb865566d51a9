// The list of the strongest triples.

import { joinsCells } from "./model.js";
import { sum } from "../lib/arrays.js";
import { make } from "../lib/elements.js";
import { spokenLabel } from "../lib/label_text.js";
import { formatCount, formatNumber, formatPercent } from "../lib/numbers.js";
import { makeWalkable } from "../lib/walk.js";

const TRIPLES_LISTED = 8;

/** A token in a row; where its axis has the same word twice, with its place. */
function tokenCell(tokens, i) {
  const twice = tokens.label.indexOf(tokens.label[i]) !== tokens.label.lastIndexOf(tokens.label[i]);
  return make(
    "td",
    { title: tokens.where[i] },
    spokenLabel(tokens, i),
    ...(twice ? [make("small", {}, " " + (tokens.special[i] ? i + 1 : tokens.place[i]))] : []),
  );
}

const JOINED = "The model's cells that each joins: large groups hold much because they are large";

/** What a triple's size is: its share of all mass, its weight over an even one, or its value. */
function measureOf(payload, open) {
  const { cells, share, value } = payload.triples;
  if (payload.against) {
    const sizes = value.map((size, n) => size * open(cells[n][0]));
    return { sizes, unit: "× even", format: (size) => "× " + formatNumber(size) };
  }
  if (payload.quantity === "weight" && share[0] !== null) {
    return { sizes: share, unit: "share of all mass", format: formatPercent };
  }
  return { sizes: value, unit: payload.quantity, format: formatNumber };
}

function headRow(payload, unit, folded) {
  const light = { scope: "col", style: "font-weight:400" };
  const axes = payload.order.map((axis) =>
    make("th", { ...light, class: "ink " + axis }, payload.roles[axis]),
  );
  const joined = folded ? [make("th", { ...light, title: JOINED }, "cells")] : [];
  const rank = make("th", { scope: "col", "aria-label": "rank" });
  const bar = make("th", { "aria-hidden": "true" });
  const size = make("th", { scope: "col", "aria-label": unit });
  return make("tr", {}, rank, ...axes, ...joined, bar, size);
}

/** A triple: rank, tokens, how many cells it joins, a bar of `length` per cent, its size. */
function tripleRow(payload, cell, rank, length, size, folded) {
  const axes = payload.order.map((axis) => payload.axes[axis]);
  const words = cell.map((i, a) => tokenCell(axes[a], i));
  const joined = cell.reduce((product, i, a) => product * axes[a].cells[i], 1);
  const count = folded ? [make("td", {}, formatCount(joined))] : [];
  const bar = make("i");
  bar.style.width = length + "%";
  const drawn = make("td", { "aria-hidden": "true" }, bar);
  return make("tr", { tabindex: "0" }, make("td", {}, rank), ...words, ...count, drawn, size);
}

function titleOf({ quantity, against }) {
  if (quantity !== "weight") return "Highest relevance";
  return against ? "Strongest against an even share" : "Strongest triples";
}

/** How much of the mass the listed triples hold, what is hidden, and what was checked. */
function notesOf(payload, listed) {
  const { share } = payload.triples;
  const notes = [payload.hidden, payload.check].filter(Boolean);
  if (share[0] === null) return notes;
  const held = formatPercent(sum(share.slice(0, listed.length)));
  const [some, all] = [listed.length, payload.cells].map(formatCount);
  return [`${some} of ${all} cells hold ${held} of the mass.`, ...notes];
}

/**
 * The table with its rows and the cells that these list, and the notes below it.  choose(cell):
 * what a click does; open(q): how many keys a query may attend to.
 */
export function triplesTable(payload, choose, open) {
  const listed = payload.triples.cells.slice(0, TRIPLES_LISTED);
  const { sizes, unit, format } = measureOf(payload, open);
  const folded = joinsCells(payload);
  const top = Math.max(...sizes.map(Math.abs), 1e-30);
  const rows = listed.map((cell, n) => {
    const size = make("td", {}, format(sizes[n]));
    return tripleRow(payload, cell, n + 1, (100 * Math.abs(sizes[n])) / top, size, folded);
  });
  makeWalkable(rows, (n) => choose(listed[n]));
  const caption = make("caption", {}, titleOf(payload), make("span", {}, unit));
  const head = make("thead", {}, headRow(payload, unit, folded));
  const table = make("table", {}, caption, head, make("tbody", {}, ...rows));
  return { table, listed, rows, notes: notesOf(payload, listed) };
}
