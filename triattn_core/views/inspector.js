// The panel beside the cube: the chosen cell in words and exact numbers, the untouched texts, the strongest triples.

const TRIPLES_LISTED = 8;
const ALL_TEXTS = 3; // with more of them, those without a mark are left out

/** Whether groups join cells of the model. */
const joins = (payload) => payload.order.some((axis) => payload.axes[axis].cells.some((n) => n > 1));

/** All pieces of the word that piece i belongs to, as [first, last]. */
function wordOf(tokens, i) {
  let first = i, last = i;
  while (tokens.joined[first] && first > 0) first--;
  while (tokens.joined[last + 1]) last++;
  return [first, last];
}

/** A word with the chosen piece in full ink and the rest of its word pale: brows|ers. */
function wordNodes(tokens, i) {
  const [first, last] = wordOf(tokens, i), pale = (from, to) => tokens.name.slice(from, to).join("");
  const before = pale(first, i), after = pale(i + 1, last + 1);
  return [...(before ? [make("i", {}, before)] : []), tokens.name[i], ...(after ? [make("i", {}, after)] : [])];
}

/** The text with the tokens of the chosen cell marked. */
function markedText(payload, name, cell) {
  const chosen = payload.order.map((axis, a) => ({ axis, tokens: payload.axes[axis], i: cell[a] })).filter(({ tokens, i }) => tokens.text[i] === name);
  return marked(payload.texts[name], chosen.map(({ axis, tokens, i }) => ({ axis, start: tokens.start[i], end: tokens.end[i] })));
}

/** How far down a text its first token stands: of a long passage a model reads a part. */
function readFrom(span, payload) {
  const starts = payload.order.flatMap((axis) => payload.axes[axis].start.filter((_, i) => payload.axes[axis].text[i] === span.dataset.text));
  if (!starts.length || !span.firstChild) return 0;
  const range = document.createRange();
  range.setStart(span.firstChild, Math.min(...starts));
  return range.getBoundingClientRect().top - span.getBoundingClientRect().top + span.scrollTop;
}

function sentenceNodes(payload, words, numbers, approximate, out) {
  const [query, key, third] = words.map((word, a) => make("span", { class: "ink " + payload.order[a] }, word)), about = approximate ? "about " : "";
  const [light, rest] = payload.order[2] === "feature" ? [" in feature ", "keys"] : [" read with ", "pairs"];
  if (out) return [query, " may not attend to ", key, ": this head's mask leaves the pair out, in every feature."];
  if (payload.quantity === "weight") {
    return [query, ` gives ${about}${percent(numbers.weight)} of its attention to `, key, light, third, /[.!?。！？]$/.test(words[2]) ? "" : "."];
  }
  const side = numbers.relevance < 0 ? "below" : "above";
  return ["For ", query, ", ", key, light, third, ` scores ${about}${number(Math.abs(numbers.relevance))} ${side} the mean of its ${count(numbers.of)} ${rest}.`];
}

function factRows(payload, numbers) {
  const known = (value, show) => (value === undefined ? "…" : show(value));
  const among = payload.over.join(" × "), each = payload.order.filter((axis) => !payload.over.includes(axis)).join(" and ");
  const rank = [`rank in this ${each === "query" ? each : "row"}`, known(numbers.rank, (r) => (r === null || Number.isNaN(r) ? "–" : `${count(r)} of ${count(numbers.of)}`)), `Largest value first, over ${among} of this ${each}`];
  const against = [payload.against ? "against even" : "against uniform", known(numbers.against, (x) => "× " + number(x)), "The weight over what even attention would give this cell; a group counts as many as the model's cells that it joins"];
  const share = ["share of all mass", known(numbers.share, percent), "The weight over the number of rows: each query, in each feature where it has those, holds the same mass, but for a query that may attend to nothing"];
  if (payload.quantity === "weight") {
    return [share, against, [joins(payload) ? "relevance, joined" : "relevance, centred", known(numbers.relevance, number), "The score before the softmax, centred: minus the mean of the scores that share its softmax; scores of a group are joined, so that it changes with the fold"], rank];
  }
  return [["as scored", known(numbers.raw, number), "The score before the softmax, not centred"], ["weight", known(numbers.weight, number), payload.says.quantity], against, rank];
}

/** A token in a row; where its axis has the same word twice, with its place. */
function tokenCell(tokens, i) {
  const twice = tokens.label.indexOf(tokens.label[i]) !== tokens.label.lastIndexOf(tokens.label[i]);
  return make("td", { title: tokens.where[i] }, spoken(tokens, i), ...(twice ? [make("small", {}, " " + (tokens.special[i] ? i + 1 : tokens.place[i]))] : []));
}

function triplesTable(payload, choose, open) {
  const { cells: found, share, value } = payload.triples, listed = found.slice(0, TRIPLES_LISTED), { against } = payload, folded = joins(payload);
  const shares = payload.quantity === "weight" && share[0] !== null && !against;
  const sizes = shares ? share : against ? value.map((one, n) => one * open(found[n][0])) : value, top = Math.max(...sizes.map(Math.abs), 1e-30);
  const unit = shares ? "share of all mass" : against ? "× even" : payload.quantity;
  const head = make("tr", {}, make("th", { scope: "col", "aria-label": "rank" }), ...payload.order.map((axis) => make("th", { scope: "col", class: "ink " + axis, style: "font-weight:400" }, axis)),
    ...(folded ? [make("th", { scope: "col", style: "font-weight:400", title: "The model's cells that each joins: large groups hold much because they are large" }, "cells")] : []), make("th", { "aria-hidden": "true" }), make("th", { scope: "col", "aria-label": unit }));
  const rows = listed.map((cell, n) => {
    const bar = make("i");
    bar.style.width = (100 * Math.abs(sizes[n])) / top + "%";
    const row = make("tr", { tabindex: "0" }, make("td", {}, n + 1), ...cell.map((i, a) => tokenCell(payload.axes[payload.order[a]], i)),
      ...(folded ? [make("td", {}, count(cell.reduce((n, i, a) => n * payload.axes[payload.order[a]].cells[i], 1)))] : []), make("td", { "aria-hidden": "true" }, bar), make("td", {}, shares ? percent(share[n]) : (against ? "× " : "") + number(sizes[n])));
    return row;
  });
  walkable(rows, (n) => choose(listed[n]));
  const title = payload.quantity !== "weight" ? "Highest relevance" : against ? "Strongest against an even share" : "Strongest triples";
  const table = make("table", {}, make("caption", {}, title, make("span", {}, unit)), make("thead", {}, head), make("tbody", {}, ...rows));
  const held = sum(share.slice(0, listed.length)), notes = [];
  if (share[0] !== null) notes.push(`${count(listed.length)} of ${count(payload.cells)} cells hold ${percent(held)} of the mass.`);
  return { table, listed, rows, notes: [...notes, payload.hidden, payload.check].filter(Boolean) };
}

/** Fills `box`; open(q): how many keys a query may attend to.  Returns update(cell, numbers, approximate, out), `out` for
    a cell that a mask leaves out. */
function buildInspector(box, payload, choose, open) {
  const words = payload.order.map((axis) => make("div", { class: axis, title: payload.says[axis] }));
  const strong = make("strong"), facts = make("dl"), sentence = make("p", { class: "sentence", "aria-live": "polite" });
  const texts = Object.keys(payload.texts).map((name) => tongue(make("span", { dir: "auto", "data-text": name }), payload.texts[name]));
  const called = (name) => make("span", { title: payload.names[name].long }, payload.names[name].short);
  const triples = triplesTable(payload, choose, open);
  const unit = payload.quantity === "weight" ? "weight" : "relevance, centred";
  box.replaceChildren(
    make("div", {}, make("div", { class: "words" }, ...words),
      make("div", { class: "value" }, make("div", {}, strong, make("small", { title: payload.says.quantity }, unit)), facts), sentence,
      make("div", { class: "texts", "aria-label": "The texts with the chosen tokens marked" }, ...texts.map((span) => make("p", {}, called(span.dataset.text), span)))),
    make("div", {}, triples.table, make("p", { class: "notes" }, triples.notes.join(" "))));
  return (cell, numbers, approximate, out) => {
    const names = payload.order.map((axis, a) => payload.axes[axis].name[cell[a]]);
    payload.order.forEach((axis, a) => {
      const tokens = payload.axes[axis], word = make("b", { title: names[a] }, ...wordNodes(tokens, cell[a]));
      words[a].replaceChildren(axis, word, tokens.where[cell[a]]);
    });
    strong.textContent = (approximate ? "≈ " : "") + number(numbers[payload.quantity]);
    facts.replaceChildren(...factRows(payload, numbers).flatMap(([name, value, help]) => [make("dt", { title: help }, name), make("dd", {}, value)]));
    sentence.replaceChildren(...sentenceNodes(payload, names, numbers, approximate, out));
    texts.forEach((span) => {
      span.replaceChildren(...markedText(payload, span.dataset.text, cell));
      const mark = span.querySelector("mark");
      span.scrollTop = (mark ? mark.offsetTop : readFrom(span, payload)) - 26;
      span.parentElement.hidden = texts.length > ALL_TEXTS && !mark;
    });
    triples.rows.forEach((row, n) => row.setAttribute("aria-selected", String(triples.listed[n].every((x, a) => x === cell[a]))));
  };
}
