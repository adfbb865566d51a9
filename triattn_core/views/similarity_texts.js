// Above the maps the untouched passage with the answers marked; below them the terms of the chosen cell in every function.

/** The passage in pieces: the chosen function's answer, its next best and the chosen word wear a mark. */
function fillAbove(box, data, [q, , index]) {
  const { title, spans: [best, next] } = data.panels[index], { query } = data.axes, letters = lettersOf(data);
  const marks = [[best, "answer"], [next, "next"], [[query.start[q], query.end[q]], "query"]].filter(([span]) => span).map(([[start, end, p], name]) => ({ start, end, p, name }));
  const cuts = [...new Set([0, letters.length, ...marks.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  const pieces = cuts.slice(1).flatMap((end, i) => {
    const words = letters.slice(cuts[i], end).join(""), over = marks.filter((one) => one.start <= cuts[i] && one.end >= end);
    const closed = over.filter((one) => one.end === end && one.p !== undefined).map((one) => make("small", { class: one.name, title: one.name === "answer" ? "probability of the answer" : "probability of the next best" }, probability(one.p)));
    return over.length ? [make("mark", { class: over.map((one) => one.name).join(" ") }, words), ...closed] : [words];
  });
  const told = [make("b", {}, title), " answers ", make("mark", { class: "answer" }, best ? cut(data, best) : "nothing"), ...(next ? ["next best ", make("mark", { class: "next" }, cut(data, next))] : [])];
  const words = make("p", { class: letters.length > 1100 ? "passage long" : "passage", dir: "auto", tabindex: "0" }, ...pieces);
  tongue(words, data.texts.passage);
  box.replaceChildren(make("p", { class: "told" }, ...told, make("span", {}, data.counted ?? "")), words);
  const mark = words.querySelector("mark.query") ?? words.querySelector("mark");
  if (mark) words.scrollTop = mark.offsetTop - words.offsetTop - 40;
}

const formula = (name) => name.replaceAll("^t", "ᵗ").replaceAll(" * ", "∗");
const signed = (x) => (x > 0 ? "+" : "") + number(x);

/** A term as its name, a bar from the middle, and the number. */
function termRow(name, value, top, total) {
  const bar = make("i"), share = top ? (50 * Math.abs(value)) / top : 0;
  Object.assign(bar.style, { left: (value < 0 ? 50 - share : 50) + "%", width: share + "%" });
  return make("div", { class: total ? "term total" : "term" }, make("span", {}, name), make("span", { class: "bar" }, bar), make("span", { class: "n" }, total ? number(value) : signed(value)));
}

function factsBlock(data, index, facts, chosen) {
  const head = make("div", { class: "name" }, data.panels[index].title), box = make("div", chosen ? { class: "facts chosen" } : { class: "facts" }, head);
  if (!facts) return box.append(make("p", {}, "…")), box;
  const several = facts.terms.length > 1;
  if (!several) head.append(make("span", { title: facts.terms[0][0] }, " " + formula(facts.terms[0][0]))); // the one term is the score
  const { spans: [best, next] } = data.panels[index]; // the head of a narrow map has no room for long ones
  if (best) box.append(make("p", { class: "answers" }, `answers “${cut(data, best)}”` + (next ? `, next best “${cut(data, next)}”` : "")));
  const whole = facts.pair?.score ?? facts.score; // words that were joined have no terms together
  if (facts.pair) head.append(make("p", { class: "pair", title: "The pair of words in this cell that weighs most: joined words have no terms together" }, "of ", make("b", {}, facts.pair.words.join(" × "))));
  const top = Math.max(Math.abs(whole), ...facts.terms.map(([, value]) => Math.abs(value)));
  const line = (name, told, help) => make("div", { class: "line", title: help }, make("span", {}, name), make("span", { class: "n" }, told));
  const rows = [...(several ? facts.terms.map(([name, value]) => termRow(formula(name), value, top, false)) : []), termRow("score", whole, top, true)];
  box.append(...rows, line(facts.pair ? "cell, centred" : "score minus its row's mean", signed(facts.centred), data.says.relevance), line(facts.pair ? "cell, weight" : "weight", `${number(facts.weight)}, rank ${facts.rank} of ${facts.of}`, data.says.weight));
  const list = facts.dimensions.map(([term, at, value]) => make("span", { title: facts.terms[term][0] }, make("b", {}, String(at + 1) + (several ? "abcdefgh"[term] : "")), " " + signed(value)));
  box.append(make("div", { class: "dimensions" }, make("span", {}, `strongest of ${facts.width} dimensions`), ...list));
  if (several) box.append(make("div", { class: "dimensions legend" }, facts.terms.map(([name], i) => `${"abcdefgh"[i]}: ${formula(name)}`).join(", ")));
  if (several && facts.alike?.length) box.append(make("div", { class: "dimensions legend" }, `${facts.alike.map(formula).join(", ")}: the same for every question word, so the softmax takes it away`));
  return box;
}

function fillBelow(box, data, cell) {
  const [q, k] = cell, facts = data.said && data.said.cell.every((x, axis) => axis === 2 || x === cell[axis]) ? data.said.facts : null, place = data.place;
  const aligned = place?.across === data.panels.length && place.wide >= 180; // each under its map, where they find room
  box.className = aligned ? "below terms aligned" : "below terms";
  box.style.gridTemplateColumns = aligned ? `${place.own - 24}px repeat(${data.panels.length}, ${place.wide}px)` : "";
  box.style.columnGap = aligned ? "24px" : "";
  const word = (axis, i) => make("b", { class: "ink-" + axis }, spoken(data.axes[axis], i));
  const left = make("div", { class: "which" }, data.notes ? "the cell" : "terms of", make("br"), " ", word("query", q), " × ", make("br"), word("key", k));
  box.replaceChildren(left, ...data.panels.map((_, i) => factsBlock(data, i, facts?.[i], i === cell[2])));
}

/** What is said of a cell, for the tooltip and for a screen reader. */
function words(data, cell) {
  const [q, k, index] = cell, panel = data.panels[index], [value, about] = valueAt(data, cell);
  const ends = `start ${probability(panel.start[q])}, end ${probability(panel.end[q])}`;
  return [`${spoken(data.axes.query, q)} × ${spoken(data.axes.key, k)}`, `${panel.title}: ${data.quantity} ${about}${number(value)}`, ends];
}
