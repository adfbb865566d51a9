// Below the maps: the untouched sentences with the chosen tokens marked, and the exact numbers of the chosen cell.

const at = (data, [q, k]) => q * data.axes.key.label.length + k;
const plus = (x) => (x > 0 ? "+" : "") + number(x);

/** The texts with the chosen tokens marked; where there are more than two, only those that have one. */
function markedTexts(data, cell) {
  const texts = Object.entries(data.texts);
  return texts.flatMap(([name, text]) => {
    const spans = ["query", "key"].flatMap((axis, a) => {
      const tokens = data.axes[axis], i = cell[a];
      return tokens.text[i] === name ? [{ axis: axis === "key" ? data.across : axis, start: tokens.start[i], end: tokens.end[i] }] : [];
    });
    if (texts.length > 2 && !spans.length) return [];
    const { short, long } = data.names[name];
    return [make("p", {}, make("span", { title: long }, short), tongue(make("span", { dir: "auto" }, ...marked(text, spans)), text))];
  });
}

/** The weight of a column where attention is even over the cells of the model, of which a folded one joins several. */
const evenShare = ({ axes: { key } }, k) => key.cells[k] / sum(key.cells);

/** The columns: [name, what it means, the text for a panel at a cell]. */
function columnsOf(data) {
  const keys = data.axes.key.label.length, { across } = data, best = (panel, q) => panel.rank.indexOf(1, q * keys) % keys;
  const shownKey = (panel, [q]) => {
    const k = panel.rank[q * keys] ? best(panel, q) : -1;
    return k < 0 ? "none" : `${spoken(data.axes.key, k)} ${number(panel.weight[q * keys + k])}`;
  };
  const relevance = ["relevance", "The score before the softmax, centred: minus the mean of this row", (p, c) => number(p.exact[at(data, c)])];
  return [
    ...(data.quantity === "relevance" ? [relevance] : []),
    ["weight", data.says.weight, (p, c) => number(p.weight[at(data, c)])],
    ["rank in its row", "1 is the largest weight of this query", (p, c) => `${p.rank[at(data, c)]} of ${keys}`],
    ["against uniform", "The weight over what even attention would give this cell", (p, c) => "× " + number(p.weight[at(data, c)] / evenShare(data, c[1]))],
    ["row entropy, bits", `How spread this query's weights are: 0 is one ${across}, the most is an even share for all`, (p, c) => `${number(p.entropy[c[0]])} of ${number(Math.log2(keys))}`],
    [`strongest ${across} of this query`, `The ${across} with the largest weight, and that weight`, shownKey],
  ];
}

function factsTable(data, cell, theme) {
  const columns = columnsOf(data);
  const head = make("tr", {}, make("th", { scope: "col" }, data.across === "key" ? "mechanism" : "option"), ...columns.map(([name, help]) => make("th", { scope: "col", title: help }, name)));
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
  return [make("b", {}, `${gap.title} ${plus(gap.exact[at(data, cell)])}`), " in this cell. The two rows of ", make("span", { class: "ink-query" }, name),
    ` differ by ${number(gap.divergence[cell[0]])} bits of 1 (Jensen–Shannon); over all queries the mean is ${number(sum(gap.divergence) / gap.divergence.length)}.`];
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
  const { query, key } = data.axes, parts = data.panels.map((panel) => `${panel.title} ${number(panel.exact[at(data, cell)])}`);
  return [`${spoken(query, cell[0])} to ${spoken(key, cell[1])}`, ...parts, ...(data.gap ? [`${data.gap.title} ${plus(data.gap.exact[at(data, cell)])}`] : [])];
}
