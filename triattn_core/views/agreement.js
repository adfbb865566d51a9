// Who is right where, as rows that can be chosen, and beside them whether two differ by chance.  Draws elements only.

const DOT = 30; // pixels from one dot to the next
const LONGEST = 62; // per cent of its half that a full bar takes: the rest is for its number

/** A drawing of a few shapes: [tag, attributes] each. */
function drawing(width, height, shapes) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg");
  const put = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  put(svg, { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const [tag, attributes] of shapes) {
    const shape = document.createElementNS(space, tag);
    put(shape, attributes);
    svg.append(shape);
  }
  return svg;
}

/** Filled where a checkpoint is right, hollow where not; a line joins those that are. */
function dots(row, models, theme) {
  const at = (i) => DOT * i + DOT / 2, on = row.on.flatMap((right, i) => (right ? [at(i)] : []));
  const line = on.length > 1 ? [["line", { x1: on[0], x2: on.at(-1), y1: 11, y2: 11, stroke: theme.text, "stroke-width": 1.5 }]] : [];
  const circles = row.on.map((right, i) => ["circle", right ? { cx: at(i), cy: 11, r: 5, fill: theme[models[i].mechanism] ?? theme.bar } : { cx: at(i), cy: 11, r: 3.5, fill: theme.page, stroke: theme.hairline, "stroke-width": 1.5 }]);
  return drawing(DOT * models.length, 22, [...line, ...circles]);
}

/** A bar with its number at its end, broken where its scale is another; the published count as two notches. */
function bar(row, part, broken) {
  const length = (n) => LONGEST * Math.min(1, n / row.scale) + "%", fill = make("i", broken ? { class: "broken" } : {}), split = row.parts.length > 1;
  const number = split ? [make("span", {}, count(row.parts[part]))] : [];
  fill.style.width = length(row.parts[part]);
  const half = make("span", { class: split && part === 0 ? "half left" : "half" }, fill, ...number);
  if (row.paper.length) {
    const tick = make("u", { title: `published: ${row.paper[part]}` });
    tick.style.setProperty("--at", length(row.paper[part]));
    half.append(tick);
  }
  return half;
}

function line(row, data, theme, send) {
  const other = data.apart > 1 && row.scale !== data.rows.at(-1).scale;
  const parts = row.parts.map((n, part) => bar(row, part, other && n > 0)), chosen = row.name === data.chosen;
  const notes = [...(row.paper.length ? [`paper ${row.paper.join(" + ")}`] : []), ...(data.apart > 1 && row === data.rows[1] ? [`bars ÷ ${data.apart}`] : [])];
  parts.at(-1).append(...notes.map((note) => make("span", { class: "note" }, note)));
  const pick = make("button", { type: "button", class: "pick", "aria-pressed": String(chosen), "data-agreement": row.name, "aria-label": `${row.name} right: ${count(row.rows)} ${data.unit}` },
    make("span", { class: "name" }, row.name), dots(row, data.models, theme), make("b", {}, count(row.rows)), make("span", { class: "bars" }, ...parts));
  pick.addEventListener("click", () => send(chosen ? "" : row.name));
  return make("li", {}, pick);
}

function inColour(model, theme, text = model.title) {
  const name = make("b", {}, text);
  name.style.color = theme[model.mechanism] ?? theme.text;
  return name;
}

function left(data, theme, send) {
  const titles = make("span", { class: "titles" }, ...data.models.map((model) => inColour(model, theme)));
  titles.style.gridTemplateColumns = `repeat(${data.models.length}, ${DOT}px)`;
  const heads = make("div", { class: "heads", "aria-hidden": "true" }, make("span", {}), titles, make("span", { class: "unit" }, data.unit), make("span", { class: "bars" }, ...data.labels.map((label, i) => make("span", { class: i ? "half" : "half left" }, label))));
  const rows = data.rows.map((row) => line(row, data, theme, send));
  const about = data.labels.length ? `${data.unit}, by gold label` : data.unit;
  return make("section", { "aria-label": "Who is right", class: "who" }, make("header", {}, make("b", {}, "Who is right"), make("span", {}, `${about}; a click filters`)), heads, make("ol", {}, ...rows));
}

/** The winner on the left, as the longer part of one bar. */
function test(one, data, theme) {
  const of = (title) => data.models.find((model) => model.title === title), first = one.only_b >= one.only_a;
  const [win, lose] = first ? [one.b, one.a] : [one.a, one.b], [more, less] = first ? [one.only_b, one.only_a] : [one.only_a, one.only_b];
  const parts = [[win, more], [lose, less]].map(([title, n]) => {
    const part = make("i");
    Object.assign(part.style, { flexGrow: n, background: theme[of(title).mechanism] ?? theme.bar });
    return part;
  });
  return make("li", {}, make("span", { class: "names" }, inColour(of(win), theme), make("span", {}, one.said, ...(one.power ? [make("sup", {}, one.power)] : [])), inColour(of(lose), theme)), make("span", { class: "parts", "aria-hidden": "true" }, ...parts), make("span", { class: "names" }, make("b", {}, count(more)), make("span", {}, count(less))));
}

function right(data, theme) {
  const list = make("ol", {}, ...data.tests.map((one) => test(one, data, theme)));
  const share = make("p", {}, "accuracy, %  ", data.accuracy.join("   "));
  return make("section", { "aria-label": "Is it chance?", class: "chance" }, make("header", {}, make("b", {}, "Is it chance?"), make("span", {}, "McNemar, exact, after Holm")), make("p", {}, `${data.unit} that only one of the two has right; one seed each`), list, share);
}

function mount(root, payload, host = {}) {
  const kept = (root.triattn ??= {}), theme = themeFor(payload.themes, root), outer = make("div", { class: "agreement" });
  kept.stop?.();
  const held = root.getRootNode().activeElement?.dataset?.agreement;
  const send = (name) => host.send?.("agreement", { name });
  wearTheme(outer, theme);
  outer.append(left(payload, theme, send), ...(payload.tests.length ? [right(payload, theme)] : []));
  root.replaceChildren(outer);
  if (held !== undefined) outer.querySelector(`[data-agreement="${CSS.escape(held)}"]`)?.focus();
  const wish = matchMedia("(prefers-color-scheme: dark)"), dress = () => mount(root, payload, host);
  wish.addEventListener("change", dress);
  kept.stop = () => wish.removeEventListener("change", dress);
  return kept.stop;
}
