// The first screen: another language lights, and the cube's one dark cell moves.

import { draw, make } from "../lib/elements.js";
import { applyTheme, colourTable, onThemeChange, themeFor } from "../lib/theme.js";
import { formatCount } from "../lib/numbers.js";
import { paintTri, paintTwoWay } from "./panels.js";

const GLIDE = 320; // milliseconds
const FRAME = 70; // milliseconds of a frame of the replay

const percent = (share) => `${Math.round(100 * share)} %`;
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** What is drawn for a language and a frame: weights as shares, and where the strongest cell is. */
function stateAt(payload, language, frame) {
  const { tri, two_way: twoWay } = payload.models;
  const share = (list) => list.map((weight) => weight / payload.scale);
  const cells = share(tri.frames[frame].weights[language]);
  const lit = payload.languages.map((_, j) => Number(j === language));
  const [itself, ...others] = share(twoWay.frames[frame].weights[language]);
  const spoken = others.pop();
  return {
    cells: payload.languages.map((_, j) => cells.map((weight) => weight * lit[j])),
    two: { itself, cards: others, languages: lit.map((on) => on * spoken) },
    lit,
    cell: [cells.indexOf(Math.max(...cells)), language],
  };
}

const blend = (from, to, t) =>
  typeof to === "number"
    ? from + (to - from) * t
    : Array.isArray(to)
      ? to.map((part, i) => blend(from[i], part, t))
      : Object.fromEntries(Object.keys(to).map((name) => [name, blend(from[name], to[name], t)]));

function swatchOf(payload, colour) {
  const swatch = make("i", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = payload.swatches[colour];
  return swatch;
}

function cardList(payload) {
  const items = payload.cards.map(([word, colour]) =>
    make("li", { title: `${word}, a ${colour} card` }, swatchOf(payload, colour), word),
  );
  return make("ul", { class: "cards", "aria-label": "Cards" }, ...items);
}

function chipRow(payload, choose) {
  const chips = payload.languages.map((name, j) => {
    const chip = make("button", { type: "button", role: "radio", "data-language": name }, name);
    chip.addEventListener("click", () => choose(j));
    return chip;
  });
  const row = make(
    "div",
    { class: "chips", role: "radiogroup", "aria-label": "Language" },
    ...chips,
  );
  row.addEventListener("keydown", (pressed) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (!(pressed.key in steps)) return;
    pressed.preventDefault();
    const at = chips.findIndex((chip) => chip.getAttribute("aria-checked") === "true");
    const next = (at + steps[pressed.key] + chips.length) % chips.length;
    choose(next);
    chips[next].focus();
  });
  return row;
}

function panel(name, title, sub, ...inside) {
  const heading = make("h2", {}, title, make("small", {}, sub));
  const picture = draw("svg", { "aria-hidden": "true" });
  const says = make("p", { class: "says", "aria-live": name === "tri" ? "polite" : "off" });
  const stage = make("div", { class: "stage" }, picture, ...inside);
  const section = make(
    "section",
    { class: `panel ${name}`, "aria-label": title },
    heading,
    stage,
    says,
  );
  return { section, stage, picture, says };
}

function answerOf(payload, model, language, frame) {
  const { answers, probabilities } = payload.models[model].frames[frame];
  const colour = payload.colours[answers[language]];
  const at = payload.cards.findIndex((card) => card[1] === colour);
  const share = probabilities[language] / payload.scale;
  const sure = share > 0.995 ? "> 99 %" : percent(share); // never all: thousandths, rounded
  return { colour, at, word: payload.cards[at]?.[0] ?? colour, sure };
}

function say(payload, line, model, language, frame) {
  const { colour, at, word, sure } = answerOf(payload, model, language, frame);
  const right = at === payload.right[language];
  line.className = right ? "says right" : "says wrong";
  const verdict = make("span", { class: "verdict" }, right ? "✓ right" : "✗ wrong");
  const named = make("b", { class: "named" }, swatchOf(payload, colour), word);
  const mixed = model === "two_way" && !right ? ", mixed from all" : "";
  const note = make("small", {}, `${sure} sure${at < 0 ? ", on no card" : mixed}`);
  line.replaceChildren(`${payload.asked} = `, named, verdict, note);
}

function stepRow(payload, go, play) {
  const { frames } = payload.models.tri;
  const button = make("button", { type: "button", class: "replay" }, "▶ Replay training");
  const slider = make("input", {
    type: "range", min: 0, max: frames.length - 1, step: 1, "aria-label": "Training step",
  }); // prettier-ignore
  slider.addEventListener("input", () => go(Number(slider.value)));
  button.addEventListener("click", play);
  const told = make("output", {});
  const set = (frame) => {
    slider.value = frame;
    told.textContent = `step ${formatCount(frames[frame].step)}`;
    slider.setAttribute("aria-valuetext", told.textContent);
    slider.style.setProperty("--done", `${(100 * frame) / (frames.length - 1)}%`);
  };
  return { row: make("div", { class: "steps" }, button, slider, told), show: set };
}

/** Elements of the figure, built once; `choose(language)` and `go(frame)` change what they show. */
function build(payload, view) {
  const { tri: three, two_way: twoWay } = payload.models;
  const scored = (model) => `trained: ${percent(model.percent_right / 100)} right`;
  const together = `one weight per pair; ${scored(three)}`;
  const alone = `one layer, one weight per word; ${scored(twoWay)}`;
  const chips = chipRow(payload, (language) => view.choose(language));
  const tri = panel("tri", "Three-way attention", together, cardList(payload), chips);
  const two = panel("two", "Two-way attention", alone, cardList(payload));
  const go = (frame) => view.go(frame);
  const steps = stepRow(payload, go, () => view.play());
  const panels = make("div", { class: "panels" }, tri.section, two.section);
  return { outer: make("div", { class: "start" }, panels, steps.row), tri, two, steps };
}

/** Paints a state between two others, in the room that there is. */
function paint(view) {
  const { parts, payload, theme, drawn } = view;
  const table = (view.tables[theme.dark] ??= colourTable(theme, "log"));
  paintTri(parts.tri, payload, drawn, table, theme);
  paintTwoWay(parts.two, payload, drawn, table, theme);
}

/** Shows the chosen language and frame: words at once, weights in a glide of `time` ms. */
function show(view, time) {
  const { payload, parts, at } = view;
  say(payload, parts.tri.says, "tri", ...at);
  say(payload, parts.two.says, "two_way", ...at);
  parts.steps.show(at[1]);
  parts.outer.querySelectorAll("[data-language]").forEach((chip, j) => {
    chip.setAttribute("aria-checked", String(j === at[0]));
    chip.tabIndex = j === at[0] ? 0 : -1;
  });
  const [from, to, begun] = [view.drawn, stateAt(payload, ...at), performance.now()];
  cancelAnimationFrame(view.request);
  if (!from || calm() || !time) {
    view.drawn = to;
    return paint(view);
  }
  const tick = (now) => {
    const t = Math.min(1, Math.max(0, now - begun) / time);
    view.drawn = blend(from, to, 1 - (1 - t) ** 3);
    paint(view);
    if (t < 1) view.request = requestAnimationFrame(tick);
  };
  view.request = requestAnimationFrame(tick);
}

/** What the reader may do; the page hears of it once the reader rests. */
function makeActive(view, root, host) {
  const tell = () => {
    clearTimeout(view.telling);
    view.telling = setTimeout(() => root.isConnected && host.send?.("cell", [...view.at]), 250);
  };
  const end = () => clearInterval(view.playing);
  const move = (language, frame, time) => {
    view.at = [language, frame];
    show(view, time);
    tell();
  };
  view.choose = (language) => move(language, view.at[1], GLIDE);
  view.go = (frame) => {
    end();
    move(view.at[0], frame, 0);
  };
  view.play = () => {
    end();
    const last = view.payload.models.tri.frames.length - 1;
    let frame = 0;
    view.playing = setInterval(() => {
      if (!root.isConnected) return end();
      move(view.at[0], frame, FRAME);
      if (frame++ >= last) end();
    }, FRAME);
  };
}

/** What is built from a payload: all but where it opens, which the page writes into its link. */
const builtFrom = (payload) => JSON.stringify({ ...payload, at: null, alt: null, themes: null });

/** Draws into `root`; again it keeps what the reader chose, and its elements with the focus. */
export function mount(root, payload, host = {}) {
  const view = (root.triattn ??= { at: payload.at, tables: {} });
  view.stop?.();
  view.theme = themeFor(payload.themes, root);
  makeActive(view, root, host);
  const source = builtFrom(payload);
  if (view.source !== source) {
    clearInterval(view.playing);
    Object.assign(view, { source, payload, parts: build(payload, view) });
    root.replaceChildren(view.parts.outer);
    show(view, 0);
  }
  applyTheme(view.parts.outer, view.theme);
  const size = new ResizeObserver(() => paint(view)); // paints at once, too
  size.observe(view.parts.tri.stage);
  const quiet = onThemeChange(() => mount(root, payload, host));
  view.stop = () => {
    size.disconnect();
    quiet();
  };
  return view.stop;
}
