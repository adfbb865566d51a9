// Below a figure: the untouched texts with the chosen tokens marked, the numbers of the chosen
// cell, and what they mean in sentences.

import { make } from "../elements.js";
import { classBelow, factsTable, textLine } from "../facts.js";
import {
  chosenPanel,
  fillTemplate,
  fillText,
  fittingCase,
  isChosen,
  isGone,
  panelOf,
  sayNumber,
  shownCell,
} from "./description.js";

const WIDE = 9; // columns of a table that takes the whole width sooner than others
const ALL_TEXTS = 4; // with more of them, those without a mark are left out

/** The spans of a text that the chosen tokens stand on, also where it is the text after an edit. */
export function spansOf(data, name, cell) {
  return Object.values(data.axes).flatMap((tokens, a) => {
    const i = cell[a];
    const mark = (start, end) => [{ axis: tokens.ink, start, end }];
    if (tokens.also?.[i] && name === "edited " + tokens.text[i]) return mark(...tokens.also[i]);
    return tokens.text[i] === name ? mark(tokens.start[i], tokens.end[i]) : [];
  });
}

/** A template as elements: words in the colour of their axis; one at its end may be a full stop. */
function nodes(data, template, panel, cell) {
  const pieces = fillTemplate(data, template, panel, cell).filter(([text]) => text);
  const [[word], [stop]] = [["", ""], ...pieces].slice(-2);
  if (stop === "." && /[.!?。！？]$/.test(word)) pieces.pop();
  return pieces.map(([text, ink]) => (ink ? make("span", { class: "ink-" + ink }, text) : text));
}

export function sentenceNodes(data, part, cell) {
  const one = fittingCase(data, part, cell);
  if (!one) return [];
  const panel = panelOf(data, part.panel, cell);
  const bold = one.bold ? [make("b", {}, fillText(data, one.bold, panel, cell))] : [];
  return [...bold, ...nodes(data, one.text, panel, cell)];
}

/** The numbers of the chosen cell, a row a panel. */
function numbersTable(data, cell, theme) {
  const { columns, rows, numbers, corner } = data.readout;
  const body = rows.map((row) => {
    const panel = panelOf(data, row.panel, cell);
    const name = fillText(data, row.name, panel, cell);
    const cells =
      row.instead && isGone(panel)
        ? [make("td", { colspan: columns.length, class: "off" }, row.instead)]
        : numbers[row.numbers].map((number) => sayNumber(data, number, panel, cell));
    if (!panel.ink) {
      const chosen = row.panel >= 0 && isChosen(data, panel, cell);
      return { name, cells, chosen };
    }
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = theme[panel.ink] ?? theme.bar;
    return { name: [swatch, name], cells, main: true, help: panel.help };
  });
  const of = chosenPanel(data, cell);
  const heads = columns.map((texts) => texts.map((text) => fillText(data, text, of, cell)));
  return factsTable(fillText(data, corner, data.panels[0], cell), heads, body);
}

/** Sentences of the cell that is shown, and what is not there to be shown. */
function sentences(data, cell, chosen) {
  const missing = chosenPanel(data, chosen);
  const nothing = isGone(chosenPanel(data, cell));
  const said = nothing
    ? []
    : data.readout.sentences.flatMap((part) => sentenceNodes(data, part, cell));
  return isGone(missing) ? [...said, (nothing ? "" : " ") + missing.empty] : said;
}

/** What prints the numbers again, to be opened. */
function commandBox({ readout, ...data }, cell, open) {
  if (!readout.command || isGone(chosenPanel(data, cell))) return [];
  const [fixed, template] = readout.command;
  const text = fixed + fillText(data, template, chosenPanel(data, cell), cell);
  const summary = make("summary", {}, "The command that prints these numbers");
  return [make("details", open ? { open: "" } : {}, summary, make("pre", {}, text))];
}

/** Fills the box below the figure; of many texts those that a chosen token is in. */
export function fillReadout(box, data, chosen, theme) {
  const cell = shownCell(data, chosen);
  const open = box.querySelector("details")?.open;
  classBelow(box, data);
  if (data.readout.columns.length > WIDE) box.classList.add("wide");
  const names = Object.keys(data.texts);
  const lines = names.flatMap((name) => {
    const spans = spansOf(data, name, cell);
    return names.length > ALL_TEXTS && !spans.length ? [] : [textLine(data, name, spans)];
  });
  const alone = names.length === 1; // the sentence stands below the text, which leaves room for it
  const texts = make("div", { class: alone ? "texts capped" : "texts" }, ...lines);
  const top = box.querySelector(".texts")?.scrollTop ?? 0;
  const sentence = make("p", { class: "sentence" }, ...sentences(data, cell, chosen));
  const table = make("div", { class: "scroll" }, numbersTable(data, cell, theme));
  if (!alone) table.append(sentence);
  table.append(...commandBox(data, cell, open));
  box.replaceChildren(alone ? make("div", {}, texts, sentence) : texts, table);
  requestAnimationFrame(() => showMarks(texts, top));
}

/**
 * Scrolls a box, and nothing around it, until what is marked in it is seen; with the next picture,
 * since to ask for a place now is to lay the page out twice.
 */
function showMarks(box, top) {
  if (box.scrollHeight <= box.clientHeight) return;
  box.scrollTop = top;
  for (const mark of box.querySelectorAll("mark")) {
    const [outer, inner] = [box, mark].map((one) => one.getBoundingClientRect());
    if (inner.top < outer.top) box.scrollTop += inner.top - outer.top;
    if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
  }
}
