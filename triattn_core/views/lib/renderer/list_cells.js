// The cells of lists: how each kind of column (lists.py) shows the value of a row.

import { clamp } from "../arrays.js";
import { draw, make } from "../elements.js";
import { formatCount } from "../numbers.js";

const DOT = 42; // pixels from one dot to the next
const THIN = { "stroke-width": 1.5 };
const LETTERS = 8; // of a title that stands above its dots; longer ones are slanted
const LONGEST = 62; // per cent of its half that a full bar takes: the rest is for its number
const WORDS = {
  mark: "30px",
  who: "auto",
  name: "minmax(70px, min(162px, 26cqi))",
  number: "auto",
};

/** How wide a column is, for CSS. */
export const widthOf = ({ mark, look, size, track, titles }) =>
  ({
    words: WORDS[look] ?? "minmax(0, 1fr)",
    chips: "auto",
    meters: `${size + (track ? 58 : 56)}px`,
    dots: `${DOT * titles?.length}px`,
    halves: "minmax(80px, 1fr)",
    splits: "1fr",
    pins: "62px",
  })[mark];

/** For screen readers alone. */
const heard = (text) => make("span", { class: "heard" }, text);

const inkOf = (theme, ink) => theme[ink] ?? (ink ? theme.bar : theme.accent);

export function swatch({ title, ink }, theme) {
  const square = make("i", { class: "swatch" });
  square.style.background = inkOf(theme, ink);
  return make("span", {}, square, title);
}

function underlined(text, ink, theme) {
  const name = make("b", {}, text);
  name.style.textDecoration = `underline 3px ${theme[ink] ?? theme.text}`;
  return name;
}

function words({ values, look, help = [], heard: behind }, i) {
  const tag = look === "number" ? "b" : "span";
  const cell = make(tag, { class: look, dir: "auto", title: help[i] ?? "" }, values[i]);
  if (behind) cell.append(heard(behind));
  return cell;
}

function meter({ values, said, most, ink, size, track }, i, theme) {
  const cell = make("span", { class: track ? "meter track" : "meter" });
  if (values[i] === null) return cell;
  const bar = make("i");
  bar.style.width = size * clamp(values[i] / most, 0, 1) + "px";
  bar.style.background = inkOf(theme, ink);
  const whole = make("span", { "aria-hidden": "true" }, bar);
  if (track) whole.style.width = size + "px";
  cell.append(whole, make("b", {}, said[i]));
  return cell;
}

function dots({ values, inks }, i, theme) {
  const x = (at) => DOT * at + DOT / 2;
  const on = values[i].flatMap((is, at) => (is ? [x(at)] : []));
  const ends = { x1: on[0], x2: on.at(-1), y1: 11, y2: 11 };
  const line = on.length > 1 ? [draw("line", { ...ends, stroke: theme.text, ...THIN })] : [];
  const circles = values[i].map((is, at) => {
    const fill = is ? (theme[inks[at]] ?? theme.bar) : theme.page;
    const edge = is ? {} : { stroke: theme.hairline, ...THIN };
    return draw("circle", { cx: x(at), cy: 11, r: is ? 5 : 3.5, fill, ...edge });
  });
  const [width, height] = [DOT * inks.length, 22];
  const box = { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": true };
  return draw("svg", box, ...line, ...circles);
}

function halves({ values, full, broken = [], ticks = [], ticked, notes = [] }, i) {
  const parts = values[i].map((value, part) => {
    const length = (n) => LONGEST * Math.min(1, n / full[i]) + "%";
    const bar = make("i", broken[i] && value ? { class: "broken" } : {});
    bar.style.width = length(value);
    const both = values[i].length > 1;
    const number = both ? [make("span", {}, formatCount(value))] : [];
    const half = make("span", { class: both && !part ? "half left" : "half" }, bar, ...number);
    if (ticks[i]?.length) {
      half.append(make("u", { title: `${ticked}: ${ticks[i][part]}` }));
      half.lastChild.style.setProperty("--at", length(ticks[i][part]));
    }
    return half;
  });
  if (notes[i]) parts.at(-1).append(make("span", { class: "note" }, notes[i]));
  return make("span", { class: "halves", "aria-hidden": "true" }, ...parts);
}

function split({ values, names, inks, said }, i, theme) {
  const [first, last] = names[i].map((name, side) => underlined(name, inks[i][side], theme));
  const [text, power] = said[i];
  const middle = make("span", {}, text, ...(power ? [make("sup", {}, power)] : []));
  const parts = values[i].map((value, side) => {
    const part = make("i");
    Object.assign(part.style, { flexGrow: value, background: inkOf(theme, inks[i][side]) });
    return part;
  });
  const counts = values[i].map((value, side) => make(side ? "span" : "b", {}, formatCount(value)));
  return make(
    "span",
    { class: "split" },
    make("span", { class: "ends" }, first, middle, last),
    make(
      "span",
      { class: "parts", "aria-hidden": "true" },
      ...parts.filter((_, side) => values[i][side]),
    ),
    make("span", { class: "ends" }, ...counts),
  );
}

const chip = ({ values, word }, i) =>
  make("span", values[i] ? { class: "chip" } : {}, values[i] ? word : "");

/** The cell of a row by the kind of its column: (column, row, theme). */
export const CELLS = { words, chips: chip, meters: meter, dots, halves, splits: split };

/** A row with the titles of columns, where one has any. */
export function headsOf(columns, theme) {
  const heads = columns.map(({ mark, title = "", titles, inks }) => {
    if (mark === "dots") {
      const all = make(
        "span",
        { class: "titles" },
        ...titles.map((name, i) => underlined(name, inks[i], theme)),
      );
      const longest = Math.max(...titles.map((name) => name.length));
      if (longest > LETTERS) {
        all.classList.add("slanted");
        all.style.height = `${Math.min(24 + 3.8 * longest, 100)}px`;
      }
      all.style.gridTemplateColumns = `repeat(${titles.length}, ${DOT}px)`;
      return all;
    }
    const sides = (titles ?? []).map((name, i) =>
      make("span", { class: i ? "half" : "half left", title: name }, name),
    );
    return make("span", { class: sides.length ? "halves" : "head" }, title, ...sides);
  });
  return columns.some(({ title, titles }) => title || titles?.length)
    ? [
        make(
          "li",
          { class: "heads", "aria-hidden": "true" },
          make("div", { class: "cells" }, ...heads),
        ),
      ]
    : [];
}
