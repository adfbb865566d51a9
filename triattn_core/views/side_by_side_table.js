// Below the maps: the untouched sentences with the chosen tokens marked, and the exact numbers of the chosen cell.

const at = (data, [q, k]) => q * data.axes.key.label.length + k;
const plus = (x) => (x > 0 ? "+" : "") + number(x);

/** A text with some spans marked, later ones giving way.  Offsets count characters: an emoji is one. */
function marked(text, spans) {
  const letters = [...text], out = [];
  let from = 0;
  for (const span of spans.filter((s) => s.end > s.start).sort((a, b) => a.start - b.start)) {
    if (span.start < from) continue;
    out.push(letters.slice(from, span.start).join(""), make("mark", { class: span.axis, title: span.axis }, letters.slice(span.start, span.end).join("")));
    from = span.end;
  }
  return [...out, letters.slice(from).join("")];
}

function markedTexts(data, cell) {
  return Object.entries(data.texts).map(([name, text]) => {
    const spans = ["query", "key"].flatMap((axis, a) => {
      const tokens = data.axes[axis], i = cell[a];
      return tokens.text[i] === name ? [{ axis, start: tokens.start[i], end: tokens.end[i] }] : [];
    });
    return make("p", {}, make("span", {}, name.toUpperCase()), tongue(make("span", { dir: "auto" }, ...marked(text, spans)), text));
  });
}

/** The columns: [name, what it means, the text for a panel at a cell]. */
function columnsOf(data) {
  const keys = data.axes.key.label.length, best = (panel, q) => panel.rank.indexOf(1, q * keys) % keys;
  const shownKey = (panel, [q]) => {
    const k = panel.rank[q * keys] ? best(panel, q) : -1;
    return k < 0 ? "none" : `${shown(data.axes.key, k)} ${number(panel.weight[q * keys + k])}`;
  };
  const relevance = ["relevance", "The score before the softmax, centred: minus the mean of this row", (p, c) => number(p.exact[at(data, c)])];
  return [
    ...(data.quantity === "relevance" ? [relevance] : []),
    ["weight", data.says.weight, (p, c) => number(p.weight[at(data, c)])],
    ["rank in its row", "1 is the largest weight of this query", (p, c) => `${p.rank[at(data, c)]} of ${keys}`],
    ["against uniform", "The weight times the number of keys: 1 is an even share", (p, c) => "× " + number(p.weight[at(data, c)] * keys)],
    ["row entropy, bits", "How spread this query's weights are: 0 is one key, the most is an even share for all", (p, c) => `${number(p.entropy[c[0]])} of ${number(Math.log2(keys))}`],
    ["strongest key of this query", "The key with the largest weight, and that weight", shownKey],
  ];
}

function factsTable(data, cell, theme) {
  const columns = columnsOf(data);
  const head = make("tr", {}, make("th", { scope: "col" }, "mechanism"), ...columns.map(([name, help]) => make("th", { scope: "col", title: help }, name)));
  const rows = data.panels.map((panel) => {
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = theme[panel.mechanism] ?? theme.bar;
    return make("tr", {}, make("th", { scope: "row", title: panel.name }, swatch, panel.title), ...columns.map(([, , say], i) => make("td", i ? {} : { class: "main" }, say(panel, cell))));
  });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** One plain sentence about the difference at this cell. */
function gapSentence(data, cell) {
  const { gap } = data, name = shown(data.axes.query, cell[0]);
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
  return [`${shown(query, cell[0])} to ${shown(key, cell[1])}`, ...parts, ...(data.gap ? [`${data.gap.title} ${plus(data.gap.exact[at(data, cell)])}`] : [])];
}
