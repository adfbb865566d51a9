// Sections of texts, as lists.py describes them: rows that can be chosen, and passages.  What was
// typed is text, never HTML.

import { clamp } from "../arrays.js";
import { make, setLanguage } from "../elements.js";
import { applyTheme, onThemeChange, themeFor } from "../theme.js";
import { unreadPart } from "../unread.js";
import { CELLS, headsOf, swatch, widthOf } from "./list_cells.js";

/* global THEMES */

const ABOVE_READ = 60; // pixels of unread text above the first that a model reads
const ABOVE_CHOSEN = 150; // pixels of a list above its chosen row

/**
 * Draws into `root`; again with a new payload it keeps how far each part was scrolled, and where
 * the focus was.
 */
export function mountLists(root, payload, host = {}) {
  const kept = (root.triattn ??= { scrolled: {} });
  kept.stop?.();
  const [focused] = Object.entries(root.getRootNode().activeElement?.dataset ?? {});
  const theme = themeFor(THEMES, root);
  const send = (name, value) => host.send?.(name, value);
  const sections = payload.sections.map((section) => sectionOf(section, theme, send));
  const outer = make("div", { class: "lists" }, make("div", { class: "sections" }, ...sections));
  const widths = payload.sections.map(
    ({ room = 1, most }) => `minmax(0, ${most ? most + "px" : room + "fr"})`,
  );
  outer.firstChild.style.setProperty("--widths", widths.join(" "));
  applyTheme(outer, theme);
  root.replaceChildren(outer);
  scrollParts(outer, kept);
  if (focused) outer.querySelector(`[data-${focused[0]}="${CSS.escape(focused[1])}"]`)?.focus();
  kept.stop = onThemeChange(() => mountLists(root, payload, host));
  return kept.stop;
}

function sectionOf({ title, note = "", lead, foot, parts }, theme, send) {
  const scrolled = parts.find((part) => part.kind === "rows" && part.tall);
  const meters = (scrolled?.columns ?? []).filter((column) => column.title);
  const pinned = scrolled?.columns.some(({ mark }) => mark === "pins");
  const heads = meters.map((column) => swatch(column, theme));
  const aside = heads.length
    ? make("span", { class: pinned ? "aside pinned" : "aside" }, ...heads)
    : make("span", {}, note);
  const boxes = parts.map((part) => {
    const inner = part.kind === "rows" ? rowsOf(part, theme, send) : passageOf(part);
    if (!part.tall) return inner;
    const box = make("div", { class: "scroll", tabindex: "0" }, inner);
    box.described = part;
    box.style.maxHeight = part.tall + "px";
    return box;
  });
  return make(
    "section",
    { "aria-label": title },
    make("header", {}, make("b", {}, title), aside),
    ...(lead ? [make("p", {}, lead)] : []),
    ...boxes,
    ...(foot ? [make("p", {}, foot)] : []),
  );
}

/** A list, as a grid: its columns are as wide in all rows. */
function rowsOf(part, theme, send) {
  const { columns, looks = [], values = [] } = part;
  const pins = columns.find(({ mark }) => mark === "pins");
  const cells = columns.filter((column) => column !== pins);
  const rows = columns[0].values.map((_, i) => {
    const shown = cells.map((column) => CELLS[column.mark](column, i, theme));
    const beside = pins ? [pinOf(pins, i, values[i], send)] : [];
    return make("li", { class: looks[i] ?? "" }, pickOf(part, i, shown, send), ...beside);
  });
  const heads = part.tall ? [] : headsOf(cells, theme);
  const list = make("ol", { class: part.sends ? "rows" : "rows plain" }, ...heads, ...rows);
  list.style.gridTemplateColumns = columns.map(widthOf).join(" ");
  list.style.setProperty("--cells", cells.length);
  return list;
}

/** What a value is called in the element that sends it. */
const nameOf = (value) => String(value?.name ?? value);

/** The cells of a row; a button where a click on them sends something. */
function pickOf({ sends, values = [], chosen, cleared, ink = "" }, i, cells, send) {
  if (!sends) return make("div", { class: "cells" }, ...cells);
  const look = { type: "button", class: `pick cells ${ink}`, "aria-pressed": String(i === chosen) };
  const pick = make("button", { ...look, [`data-${sends}`]: nameOf(values[i]) }, ...cells);
  pick.addEventListener("click", () => {
    const clears = cleared !== undefined && pick.ariaPressed === "true";
    for (const other of pick.closest("ol").querySelectorAll(".pick"))
      other.setAttribute("aria-pressed", String(other === pick && !clears)); // before the page has answered
    send(sends, clears ? cleared : values[i]);
  });
  return pick;
}

function pinOf({ values, pressed, sends }, i, value, send) {
  const look = { type: "button", class: "pin", "aria-pressed": String(pressed[i]) };
  const pin = make("button", { ...look, [`data-${sends}`]: nameOf(value) }, values[i]);
  if (!pressed[i]) pin.addEventListener("click", () => send(sends, value));
  return pin;
}

/** A text, its parts shaded by their shares; what is not read is pale. */
function passageOf({ text, shades, begins, read }) {
  const letters = [...text];
  const most = Math.max(...shades.map(([, , share]) => share), 1e-9);
  const part = (from, to) => letters.slice(from, Math.max(from, to)).join("");
  const plain = (from, to) => {
    const first = clamp(begins, from, to);
    const last = clamp(read, first, to);
    return [...unreadPart(part(from, first)), part(first, last), ...unreadPart(part(last, to))];
  };
  let at = 0;
  const out = shades.flatMap(([start, end, share, help]) => {
    const span = make("span", { class: "run", title: help }, part(start, end));
    span.style.setProperty("--part", share / most);
    const before = plain(at, start);
    at = end;
    return [...before, span];
  });
  const words = make(
    "div",
    { class: "passage", dir: "auto" },
    ...out,
    ...plain(at, letters.length),
  );
  return setLanguage(words, text);
}

/** Scrolls each part to where it was, else to its end, to what is read or to what is chosen. */
function scrollParts(outer, kept) {
  outer.querySelectorAll(".scroll").forEach((box, i) => {
    box.scrollTop = kept.scrolled[i] ?? firstScroll(box);
    box.addEventListener("scroll", () => {
      kept.scrolled[i] = box.scrollTop;
      markRest(box);
    });
    new ResizeObserver(() => markRest(box)).observe(box);
    markRest(box);
  });
}

function firstScroll(box) {
  if (box.described.ends) return box.scrollHeight;
  const unread = box.described.begins > 0 && box.querySelector(".mute");
  if (unread) return unread.offsetTop + unread.offsetHeight - ABOVE_READ;
  const row = box.querySelector('[aria-pressed="true"].pick');
  return row ? row.offsetTop - ABOVE_CHOSEN : 0;
}

/** Marks where a list goes on beyond its edges, for the style sheet. */
function markRest(box) {
  box.classList.toggle("above", box.scrollTop > 2);
  box.classList.toggle("below", box.scrollTop + box.clientHeight < box.scrollHeight - 2);
}
