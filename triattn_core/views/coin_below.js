// Below COIN's blocks: the untouched sentences with the chosen tokens marked, the exact numbers of the chosen pair in every
// block, and the command that gives them.

/** The sentences with query and key marked, and pale what each looks at in its own. */
function markedTexts(data, cell) {
  return Object.entries(data.texts).map(([name, words]) => {
    const spans = ["query", "key"].flatMap((axis) => {
      const tokens = data.axes[axis], i = cell[AXIS[axis]];
      return tokens.text[i] === name ? [{ axis, start: tokens.start[i], end: tokens.end[i] }] : [];
    });
    return make("p", {}, make("span", { title: data.names[name].long }, data.names[name].short), tongue(make("span", { dir: "auto" }, ...marked(words, spans)), words));
  });
}

const half = (block, q) => `${block.gate_low[q].toFixed(2)}–${block.gate_high[q].toFixed(2)}`;
const plus = (x) => (x > 0 ? "+" : "") + number(x);
const rank = (row, k) => 1 + row.filter((one) => one > row[k]).length;

/** The columns: [name, what it means, the text for a block]; those that the model does not have are left out. */
function columnsOf(data, cell) {
  const [q, k, , f, a, b] = cell, i = at(data, cell), n = sizeOfAxis(data, "key"), { query, key } = data.axes, [share, all] = evenOf(data, k);
  const row = (values) => values.subarray(q * n, (q + 1) * n);
  const best = (values) => { const found = row(values), top = found.indexOf(Math.max(...found)); return `${spoken(key, top)} ${number(found[top])}`; };
  const has = (name) => data.blocks.some((block) => block?.[name]), selves = data.blocks.some((block) => block?.own.length);
  const own = (s, axis, from, to) => [`${spoken(data.axes[axis], from)} → ${spoken(data.axes[axis], to)}`, `Self-alignment of sentence ${data.sides[s]}: the share of ${spoken(data.axes[axis], from)} that goes to ${spoken(data.axes[axis], to)}, of which its context is made`, (block) => number(block.own[s][from * sizeOfAxis(data, axis) + to])];
  return [
    [has("plain") ? "with context" : "weight", data.says.weight, (block) => number(block.weight[i])],
    ...(has("plain") ? [
      ["without", "The weight that the same states have without the context term", (block) => number(block.plain[i])],
      ["difference", "What context changed", (block) => plus(block.changed[i])],
    ] : []),
    ["rank", "1 is the largest weight of this query", (block) => `${rank(row(block.weight), k)} of ${n}`],
    ...(data.folded ? [["against even", `The weight over what even attention would give it: ${share} of ${all} tokens`, (block) => "× " + number((block.weight[i] * all) / share)]] : []),
    ...(has("score") ? [["score", data.says.relevance, (block) => number(block.score[i])]] : []),
    ["aligns most to", "The key with the largest weight, and that weight", (block) => best(block.weight)],
    ...(selves ? [own(0, "query", q, a), own(1, "key", k, b)] : []),
    ...(has("gate") ? [["gate", `The mean over features of what ${spoken(query, q)} keeps of itself: 0 takes in, 1 keeps`, (block) => number(block.gate[q])], ["middle half", "Between these lie the gates of the middle half of the features", (block) => half(block, q)]] : []),
    ...(has("features") ? [[`feature ${f + 1}`, "The gate of this feature", (block) => number(block.features[q * data.wide + f])]] : []),
    ["spread", `How evenly the block's weights are spread: the mean over queries of their entropy, as a share of the largest that ${all} keys allow, token by token; 1 is uniform, 0 one key alone`, (block) => number(block.spread)],
  ];
}

function factsTable(data, cell) {
  const columns = columnsOf(data, cell), pair = `${spoken(data.axes.query, cell[0])} to ${spoken(data.axes.key, cell[1])}`;
  const top = make("tr", {}, make("th", { scope: "col" }, pair), ...columns.map(([name, help]) => make("th", { scope: "col", title: help }, name)));
  const rows = data.blocks.map((block, i) => {
    const chosen = i === cell[2], named = `block ${i + 1}`;
    const rest = block ? columns.map(([, , say], c) => make("td", c || !chosen ? {} : { class: "main" }, say(block))) : [make("td", { colspan: columns.length, class: "off" }, "switched off")];
    return make("tr", chosen ? { "aria-selected": "true" } : {}, make("th", { scope: "row" }, chosen ? make("b", {}, named) : named), ...rest);
  });
  return make("table", {}, make("thead", {}, top), make("tbody", {}, ...rows));
}

/** One plain sentence about the chosen cell. */
function sentence(data, cell, given) {
  const block = data.blocks[cell[2]], i = at(data, cell), off = given[2] === cell[2] ? "" : ` Block ${given[2] + 1} is switched off.`, query = make("span", { class: "ink-query" }, spoken(data.axes.query, cell[0])), key = make("span", { class: "ink-key" }, spoken(data.axes.key, cell[1]));
  if (!block) return [`Block ${cell[2] + 1} is switched off.`];
  const without = block.plain ? [`, ${percent(block.plain[i])} without the context term`] : [];
  return [`In block ${cell[2] + 1}, `, query, ` gives ${percent(block.weight[i])} of its weight to `, key, ...without, `.${off}`];
}

/** What prints the numbers of the chosen block again. */
function commandOf(data, cell) {
  const [q, k, number, f, a, b] = cell, block = data.blocks[number], { input, run, way } = data.command, [first, second] = way.split("_over_");
  if (!block) return "";
  const sites = [[`${way}/weight`, q, k]];
  if (block.plain) sites.push([`${way}/without_context/weight`, q, k]);
  if (block.own.length) sites.push([`${first}_over_${first}/weight`, q, a], [`${second}_over_${second}/weight`, k, b]);
  if (block.features) sites.push([`${way}/gate`, q, f]);
  return [input, [run, ...sites.map(([site, from, to]) => `  --cell layer.${number}/${site} ${from},${to}`)].join(" \\\n")].join("\n");
}

function fillBelow(box, data, given) {
  const cell = lived(data, given) ?? given;
  const long = Math.max(...Object.values(data.texts).map((words) => words.length)) > 80, open = box.querySelector("details")?.open;
  box.className = long ? "below long" : "below";
  const left = make("div", {}, make("div", { class: "texts" }, ...markedTexts(data, cell)), make("p", { class: "said" }, ...sentence(data, cell, given)));
  const shell = make("details", open ? { open: "" } : {}, make("summary", {}, "The command that prints these numbers"), make("pre", {}, commandOf(data, cell)));
  box.replaceChildren(left, make("div", { class: "scroll" }, factsTable(data, cell), ...(commandOf(data, cell) ? [shell] : [])));
}

/** What is said of a cell, for the tooltip and for a screen reader. */
function words(data, given) {
  const cell = lived(data, given) ?? given, [q, k, number_, f, a, b] = cell, block = data.blocks[number_], i = at(data, cell), { query, key } = data.axes;
  if (cell.own && block?.own.length) {
    const s = AXIS[cell.own], [from, to] = s ? [k, b] : [q, a], tokens = data.axes[cell.own];
    return [`${spoken(tokens, from)} over ${spoken(tokens, to)}`, `block ${number_ + 1}, self-alignment ${number(block.own[s][from * sizeOfAxis(data, cell.own) + to])}`];
  }
  const pair = `${spoken(query, q)} to ${spoken(key, k)}`;
  if (!block) return [pair, `block ${number_ + 1} is switched off`];
  if (cell.gate) return [spoken(query, q), `block ${number_ + 1}, feature ${f + 1}: keeps ${number(block.features[q * data.wide + f])}`];
  const without = block.plain ? [`without context ${number(block.plain[i])}, ${plus(block.changed[i])}`] : [];
  return [pair, `block ${number_ + 1}: ${number(block.weight[i])}`, ...without, ...(block.gate ? [`gate of ${spoken(query, q)} ${number(block.gate[q])}, half of its features ${half(block, q)}`] : [])];
}
