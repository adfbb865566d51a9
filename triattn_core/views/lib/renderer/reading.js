// Above the maps a whole text with the spans of the chosen panel; below them a block of numbers
// for each panel.

import { make, markSpans, setLanguage } from "../elements.js";
import { chosenPanel, fillTemplate, sayValue } from "./description.js";
import { spansOf } from "./readout.js";

const LONG = 1100; // characters of a text that scrolls in a box of its own
const ALIGNED = 205; // pixels of a map that has room for its block below it

/** Fills the box above the maps. */
export function fillAbove(box, data, cell) {
  const { text: name, aside } = data.above;
  const panel = chosenPanel(data, cell);
  const letters = [...data.texts[name]];
  const said = panel.spans.flatMap(({ start, end, look, says }) => {
    const words = letters.slice(start, end).join("").replace(/\s+/g, " ");
    return [` ${says} `, ...(words ? [make("mark", { class: look }, words)] : [])];
  });
  const spans = panel.spans.map((span) => ({ ...span, axis: span.look }));
  const words = make(
    "p",
    { class: letters.length > LONG ? "passage long" : "passage", dir: "auto", tabindex: "0" },
    ...markSpans(data.texts[name], [...spans, ...spansOf(data, name, cell)]),
  );
  setLanguage(words, data.texts[name]);
  const told = [make("b", {}, panel.title), ...said, make("span", {}, aside)];
  box.replaceChildren(make("p", { class: "told" }, ...told), words);
  const mark = words.querySelector("mark.query") ?? words.querySelector("mark");
  if (mark) words.scrollTop = mark.offsetTop - words.offsetTop - 40;
}

/** A line of a block: its name, a bar from the middle where it has one, the number. */
function lineRow({ name, value, format, after = "", help = "", bar, total }, top) {
  const number = make("span", { class: "n" }, sayValue(value, format) + after);
  if (!bar) return make("div", { class: "line", title: help }, make("span", {}, name), number);
  const share = top ? (50 * Math.abs(value)) / top : 0;
  const part = make("i");
  Object.assign(part.style, { left: (value < 0 ? 50 - share : 50) + "%", width: share + "%" });
  const row = { class: total ? "term total" : "term" };
  return make("div", row, make("span", {}, name), make("span", { class: "bar" }, part), number);
}

function blockOf(title, block, chosen) {
  const head = make("div", { class: "name" }, title);
  const box = make("div", { class: chosen ? "facts chosen" : "facts" }, head);
  if (!block) return (box.append(make("p", {}, "…")), box);
  const { note, pair, said, title: listed, lines, items, legends = [] } = block;
  if (note) head.append(make("span", { title: note }, " " + note));
  if (pair) {
    const help =
      "The pair of words in this cell that weighs most: joined words have no terms together";
    head.append(make("p", { class: "pair", title: help }, "of ", make("b", {}, pair)));
  }
  if (said) box.append(make("p", { class: "answers" }, said));
  const top = Math.max(0, ...lines.filter(({ bar }) => bar).map(({ value }) => Math.abs(value)));
  box.append(...lines.map((line) => lineRow(line, top)));
  const list = items.map(([name, value, help]) =>
    make("span", { title: help }, make("b", {}, name), " " + sayValue(value, "signed")),
  );
  box.append(make("div", { class: "dimensions" }, make("span", {}, listed ?? ""), ...list));
  box.append(...legends.map((text) => make("div", { class: "dimensions legend" }, text)));
  return box;
}

/** The blocks of a cell, as the page sent them or as the figure opened on it. */
function blocksAt(data, cell) {
  const answer = data.answer ?? { cell: data.cell, blocks: data.blocks.first };
  const words = Object.keys(data.axes).length;
  return answer.cell.every((i, axis) => axis >= words || i === cell[axis]) ? answer.blocks : [];
}

/** Fills the box below the maps; each block under its map, where they find room. */
export function fillBlocks(box, data, cell, place) {
  const blocks = blocksAt(data, cell);
  const [first] = place?.boxes ?? [];
  const aligned = first && place.boxes.every(({ y }) => y === first.y) && first.span >= ALIGNED;
  const gap = aligned && place.boxes.length > 1 ? place.boxes[1].x - first.x - first.span : 24;
  box.className = aligned ? "below terms aligned" : "below terms";
  Object.assign(box.style, {
    gridTemplateColumns: aligned
      ? `${first.x - gap}px repeat(${place.boxes.length}, ${first.span}px)`
      : "",
    columnGap: aligned ? gap + "px" : "",
  });
  const corner = fillTemplate(data, data.blocks.corner, data.panels[0], cell);
  const words = corner.map(([text, ink]) =>
    ink ? make("b", { class: "ink-" + ink }, text) : text,
  );
  const chosen = chosenPanel(data, cell);
  box.replaceChildren(
    make("div", { class: "which" }, ...words),
    ...data.panels.map((panel, i) => blockOf(panel.title, blocks[i], panel === chosen)),
  );
}
