// Below the maps: the untouched sentences with the chosen tokens marked, and the exact numbers of the chosen cell.

const at = (data, [q, k]) => q * data.axes.key.label.length + k;
const plus = (x) => (x > 0 ? "+" : "") + number(x);
const mean = (values) => sum(values) / values.length;
const NOT_THERE = "not there";
/** A number; a gap in words. */
const said = (x, signed) => (x === null || Number.isNaN(x) ? NOT_THERE : signed ? plus(x) : number(x));

/** The texts with the chosen tokens marked; where there are more than two, only those that have one. */
function markedTexts(data, cell) {
  const texts = Object.entries(data.texts);
  return texts.flatMap(([name, text]) => {
    const spans = ["query", "key"].flatMap((axis, a) => {
      const tokens = data.axes[axis], i = cell[a];
      const mark = (start, end) => [{ axis: axis === "key" ? data.across : axis, start, end }];
      if (tokens.also?.[i] && name === "edited " + tokens.text[i]) return mark(...tokens.also[i]);
      return tokens.text[i] === name ? mark(tokens.start[i], tokens.end[i]) : [];
    });
    if (texts.length > 4 && !spans.length) return [];
    const { short, long } = data.names[name];
    return [make("p", {}, make("span", { title: long }, short), tongue(make("span", { dir: "auto" }, ...marked(text, spans)), text))];
  });
}

/** The weight of a column where attention is even over the cells of the model, of which a folded one joins several. */
const evenShare = ({ axes: { key }, hidden }, panel, [q, k]) => key.cells[k] / (hidden[1] + sum(key.cells.filter((_, i) => !Number.isNaN(panel.weight[q * key.cells.length + i]))));

/** How many keys a query has, with those that are hidden. */
const keysOf = ({ hidden }, panel, q, keys) => hidden[0] + panel.weight.subarray(q * keys, (q + 1) * keys).filter((v) => !Number.isNaN(v)).length;

/** The columns: [name, what it means, the text for a panel at a cell]. */
function columnsOf(data) {
  const keys = data.axes.key.label.length, { across } = data, best = (panel, q) => panel.rank.indexOf(1, q * keys) % keys;
  const shownKey = (panel, [q]) => {
    const k = panel.rank.subarray(q * keys, (q + 1) * keys).includes(1) ? best(panel, q) : -1;
    return k < 0 ? (data.hidden[0] ? "hidden" : "none") : `${spoken(data.axes.key, k)} ${number(panel.weight[q * keys + k])}`;
  };
  const relevance = ["relevance", "The score before the softmax, centred: minus the mean of this row", (p, c) => said(p.exact[at(data, c)])];
  return [
    ...(data.quantity === "relevance" ? [relevance] : []),
    ["weight", data.says.weight, (p, c) => said(p.weight[at(data, c)])],
    ["rank in its row", "1 is the largest weight of this query", (p, c) => (Number.isNaN(p.weight[at(data, c)]) ? "–" : `${p.rank[at(data, c)]} of ${keysOf(data, p, c[0], keys)}`)],
    ["against uniform", "The weight over what even attention would give this cell", (p, c) => (Number.isNaN(p.weight[at(data, c)]) ? "–" : "× " + number(p.weight[at(data, c)] / evenShare(data, p, c)))],
    ["row entropy, bits", `How spread this query's weights are: 0 is one ${across}, the most is an even share for all`, (p, c) => (p.entropy[c[0]] === null ? "–" : `${number(p.entropy[c[0]])} of ${number(Math.log2(keysOf(data, p, c[0], keys)))}`)],
    [`strongest ${across} of this query`, `The ${across} with the largest weight, and that weight`, shownKey],
  ];
}

function factsTable(data, cell, theme) {
  const columns = columnsOf(data);
  const head = make("tr", {}, make("th", { scope: "col" }, data.what), ...columns.map(([name, help]) => make("th", { scope: "col", title: help }, name)));
  const rows = data.panels.map((panel) => {
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = theme[panel.mechanism] ?? theme.bar;
    return make("tr", {}, make("th", { scope: "row", title: panel.name }, swatch, panel.title), ...columns.map(([, , say], i) => make("td", i ? {} : { class: "main" }, say(panel, cell))));
  });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** One plain sentence about the difference at this cell. */
function gapSentence(data, cell) {
  const { gap } = data, name = spoken(data.axes.query, cell[0]);
  if (!gap) return [];
  if (data.hidden[0] + data.axes.key.label.length === 1) return [`As this is read there is one ${data.across}: every weight is 1, nothing to compare.`];
  const there = gap.divergence.filter((v) => v !== null), bits = gap.divergence[cell[0]], same = gap.overlap?.[cell[0]] ?? null;
  const within = gap.within?.[at(data, cell)] ? ", no more than between seeds" : "";
  const first = [make("b", {}, `${gap.title} ${said(gap.exact[at(data, cell)], true)}`), ` in this cell${within}. `];
  if (bits === null) return [...first, make("span", { class: "ink-query" }, name), " stands in one of the inputs only: there is no row to compare."];
  const top = same === null ? "" : ` Of their ${gap.top} strongest ${data.across}s ${same} ${same === 1 ? "is" : "are"} the same (by chance ${number(gap.chance)}).`;
  return [...first, "The two rows of ", make("span", { class: "ink-query" }, name),
    ` differ by ${number(bits)} bits of 1 (Jensen–Shannon); over all queries the mean is ${number(mean(there))}.${top}`];
}

function fillBelow(box, data, cell, theme) {
  const long = Math.max(...Object.values(data.texts).map((text) => text.length)) > 80;
  box.className = long ? "below long" : "below";
  const right = make("div", { class: "scroll" }, factsTable(data, cell, theme), make("p", { class: "said" }, ...gapSentence(data, cell)));
  const old = box.querySelector(".texts"), texts = make("div", { class: "texts" }, ...markedTexts(data, cell)), top = old?.scrollTop ?? 0;
  box.replaceChildren(texts, right);
  texts.scrollTop = top;
}

/** What is said of a cell, for the tooltip and for a screen reader. */
function words(data, cell) {
  const { query, key } = data.axes, parts = data.panels.map((panel) => `${panel.title} ${said(panel.exact[at(data, cell)])}`);
  return [`${spoken(query, cell[0])} to ${spoken(key, cell[1])}`, ...parts, ...(data.gap ? [`${data.gap.title} ${said(data.gap.exact[at(data, cell)], true)}${data.gap.within?.[at(data, cell)] ? ", no more than between seeds" : ""}`] : [])];
}
