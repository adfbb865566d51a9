// Below the maps: the untouched text with the chosen tokens marked, one plain sentence, and the exact numbers of the
// chosen pair in every map that is drawn.

/** The text with governor and dependent marked. */
function markedTexts(data, [q, k]) {
  return Object.entries(data.texts).flatMap(([name, words]) => {
    const spans = [["query", q], ["key", k]].filter(([axis, i]) => data.axes[axis].text[i] === name)
      .map(([axis, i]) => ({ axis, start: data.axes[axis].start[i], end: data.axes[axis].end[i] }));
    if (!spans.length) return [];
    return [make("p", {}, make("span", { title: data.names[name].long }, data.names[name].short), tongue(make("span", { dir: "auto" }, ...marked(words, spans)), words))];
  });
}

const openKeys = (data, panel, q) => {
  const n = data.axes.key.label.length, row = panel.out?.subarray(q * n, (q + 1) * n);
  return row ? n - sum([...row]) : n;
};

/** The weight of a pair if attention were even over what the mask leaves, of the tokens where they are folded. */
const evenShare = (data, panel, cell) => (panel.even ? panel.even[at(data, cell)] : 1 / openKeys(data, panel, cell[0]));

/** Largest first, among the row's keys. */
function rankOf(data, panel, [q, k]) {
  const n = data.axes.key.label.length, row = panel.weight.subarray(q * n, (q + 1) * n);
  return 1 + row.filter((weight) => weight > row[k]).length;
}

/** What stands beside a weight: in a map of scores what is drawn; and the score as it is, where there is one. */
const scoresOf = (data, drawn, score) => [...(data.quantity === "weight" ? [] : [number(drawn)]), ...(score === undefined ? [] : [number(score)])];

function pairRow(data, panel, cell) {
  const left = openKeys(data, panel, cell[0]), i = at(data, cell), scores = scoresOf(data, panel.exact[i], panel.score?.[i]);
  if (inMask(data, panel, cell)) return ["masked", ...scores.map(() => ""), "", ""];
  return [number(panel.weight[i]), ...scores, `${rankOf(data, panel, cell)} of ${left}`, "× " + number(panel.weight[i] / evenShare(data, panel, cell))];
}

/** Of the chosen head, what its dependent has by itself: its name, and the same columns. */
function sourceRows(data, cell) {
  const [, k, at, f] = cell, panel = data.panels[at], { cells } = data.axes.key, head = panel.title.split(",")[0];
  if (!panel.mean) return [];
  const line = (name, weights, drawn, scores) => {
    const rank = 1 + weights.filter((one) => one > weights[k]).length;
    return [`${head}: source2token, ${name}`, [number(weights[k]), ...scoresOf(data, drawn[k], scores?.[k]), `${rank} of ${weights.length}`, "× " + number((weights[k] * sum(cells)) / cells[k])]];
  };
  const rows = [line("mean", panel.meanWeight, panel.mean, panel.meanScore)];
  if (!data.wide) return rows;
  const column = (values) => values?.filter((_, i) => i % data.wide === f);
  return [...rows, line(`feature ${panel.order[f] + 1}`, ...[panel.sourceWeight, panel.source, panel.sourceScore].map(column))];
}

const DRAWN = "What the map shows: the score as its softmax takes it, less its mean over keys";

function factsTable(data, cell) {
  const drawn = data.quantity === "weight" ? [] : [["as drawn", DRAWN]], score = data.panels[0].score ? [["score", data.says.relevance]] : [];
  const heads = [["weight", data.says.weight], ...drawn, ...score, ["rank", "Largest weight first, among what may be attended to"], ["against even", "The weight over an even share of what the mask leaves"]];
  const head = make("tr", {}, make("th", { scope: "col" }, `${spoken(data.axes.query, cell[0])} to ${spoken(data.axes.key, cell[1])}`), ...heads.map(([name, help]) => make("th", { scope: "col", title: help }, name)));
  const line = (name, numbers, chosen) => make("tr", chosen ? { "aria-selected": "true" } : {}, make("th", { scope: "row" }, chosen ? make("b", {}, name) : name), ...numbers.map((one, i) => make("td", i || !chosen ? {} : { class: "main" }, one)));
  const rows = data.panels.map((panel, i) => line(panel.title, pairRow(data, panel, cell), i === cell[2]));
  const source = sourceRows(data, cell).map(([name, numbers]) => line(name, numbers, false));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows, ...source));
}

/** One plain sentence about the chosen cell. */
function sentence(data, cell) {
  const [q, k, , f] = cell, panel = data.panels[cell[2]], governor = make("span", { class: "ink-query" }, spoken(data.axes.query, q)), dependent = make("span", { class: "ink-key" }, spoken(data.axes.key, k));
  const alone = panel.mean && data.quantity === "weight" ? [` By itself, ${spoken(data.axes.key, k)} holds ${percent(panel.mean[k])} of source2token on average` + (data.wide ? `, and ${percent(panel.source[k * data.wide + f])} in feature ${panel.order[f] + 1}.` : ".")] : [];
  if (!openKeys(data, panel, q)) return [governor, ` is left nothing to attend to in ${panel.title}: its row is zeros.`, ...alone];
  if (inMask(data, panel, cell)) return [governor, " may not attend to ", dependent, ` in ${panel.title}.`, ...alone];
  return [`In ${panel.title}, `, governor, ` gives ${percent(panel.weight[at(data, cell)])} of its ${panel.score ? "token2token " : ""}weight to `, dependent, ".", ...alone];
}

function fillBelow(box, data, cell, theme) {
  const long = Math.max(...Object.values(data.texts).map((words) => words.length)) > 80;
  box.className = long ? "below long" : "below";
  const texts = make("div", { class: "texts capped" }, ...markedTexts(data, cell)), top = box.querySelector(".texts")?.scrollTop ?? 0;
  const left = make("div", {}, texts, make("p", { class: "said" }, ...sentence(data, cell)));
  box.replaceChildren(left, make("div", { class: "scroll" }, factsTable(data, cell)));
  texts.scrollTop = top;
  for (const mark of texts.querySelectorAll("mark")) bring(texts, mark);
}

/** Scrolls a box, and nothing around it, until what it holds is seen. */
function bring(box, part) {
  const [outer, inner] = [box, part].map((one) => one.getBoundingClientRect());
  if (inner.top < outer.top) box.scrollTop += inner.top - outer.top;
  if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

/** What is said of a cell, for the tooltip and for a screen reader. */
function words(data, cell) {
  const [q, k, index, f] = cell, panel = data.panels[index], value = inMask(data, panel, cell) ? "masked" : number(panel.exact[at(data, cell)]);
  const source = data.wide ? [`source2token of ${spoken(data.axes.key, k)}, feature ${panel.order[f] + 1}: ${number(panel.source[k * data.wide + f])}`] : [];
  return [`${spoken(data.axes.query, q)} to ${spoken(data.axes.key, k)}`, `${panel.title} ${value}`, ...source];
}
