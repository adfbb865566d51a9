// Who is right where, as rows that can be chosen.

import { make } from "../lib/elements.js";
import { formatCount } from "../lib/numbers.js";

const DOT = 42; // pixels from one dot to the next
const LETTERS = 8; // of a title that stands above its dots; longer ones are slanted
const LONGEST = 62; // per cent of its half that a full bar takes: the rest is for its number

/** A drawing of a few shapes: [tag, attributes] each. */
function svgElement(width, height, shapes) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const put = (element, attributes) =>
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  put(svg, { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const [tag, attributes] of shapes) {
    const shape = document.createElementNS(space, tag);
    put(shape, attributes);
    svg.append(shape);
  }
  return svg;
}

/** Filled where a checkpoint is right, hollow where not; a line joins those that are. */
function dotsOf(row, models, theme) {
  const x = (i) => DOT * i + DOT / 2;
  const thin = { "stroke-width": 1.5 };
  const on = row.on.flatMap((right, i) => (right ? [x(i)] : []));
  const ends = { x1: on[0], x2: on.at(-1), y1: 11, y2: 11 };
  const line = on.length > 1 ? [["line", { ...ends, stroke: theme.text, ...thin }]] : [];
  const circles = row.on.map((right, i) => {
    const fill = right ? (theme[models[i].mechanism] ?? theme.bar) : theme.page;
    const edge = right ? {} : { stroke: theme.hairline, ...thin };
    return ["circle", { cx: x(i), cy: 11, r: right ? 5 : 3.5, fill, ...edge }];
  });
  return svgElement(DOT * models.length, 22, [...line, ...circles]);
}

/**
 * A bar with its number at its end, broken where its scale is another; the published count as two
 * notches.
 */
function barOf(row, part, broken) {
  const length = (n) => LONGEST * Math.min(1, n / row.scale) + "%";
  const fill = make("i", broken ? { class: "broken" } : {});
  const split = row.parts.length > 1;
  const number = split ? [make("span", {}, formatCount(row.parts[part]))] : [];
  fill.style.width = length(row.parts[part]);
  const half = make("span", { class: split && part === 0 ? "half left" : "half" }, fill, ...number);
  if (row.paper.length) {
    const tick = make("u", { title: `published: ${row.paper[part]}` });
    tick.style.setProperty("--at", length(row.paper[part]));
    half.append(tick);
  }
  return half;
}

/** Text that screen readers alone are told. */
const heard = (text) => make("span", { class: "heard" }, text);

function rowOf(row, data, theme, send) {
  const other = data.apart > 1 && row.scale !== data.rows.at(-1).scale;
  const parts = row.parts.map((n, part) => barOf(row, part, other && n > 0));
  const chosen = row.name === data.chosen;
  const notes = [
    ...(row.paper.length ? [`paper ${row.paper.join(" + ")}`] : []),
    ...(data.apart > 1 && row === data.rows[1] ? [`bars ÷ ${data.apart}`] : []),
  ];
  parts.at(-1).append(...notes.map((note) => make("span", { class: "note" }, note)));
  const pick = make(
    "button",
    {
      type: "button",
      class: "pick",
      "aria-pressed": String(chosen),
      "data-agreement": row.name,
    },
    make("span", { class: "name", title: row.name }, row.name, heard(" right: ")),
    dotsOf(row, data.models, theme),
    make("b", {}, formatCount(row.rows)),
    heard(` ${data.unit}`),
    make("span", { class: "bars", "aria-hidden": "true" }, ...parts),
  );
  pick.addEventListener("click", () => send(chosen ? "" : row.name));
  return make("li", {}, pick);
}

export function coloured(model, theme, text = model.title) {
  const name = make("b", {}, text);
  name.style.textDecoration = `underline 3px ${theme[model.mechanism] ?? theme.text}`;
  return name;
}

export function rowsSection(data, theme, send) {
  const titles = make(
    "span",
    { class: "titles" },
    ...data.models.map((model) => coloured(model, theme)),
  );
  titles.classList.toggle(
    "slanted",
    data.models.some((model) => model.title.length > LETTERS),
  );
  titles.style.gridTemplateColumns = `repeat(${data.models.length}, ${DOT}px)`;
  const heads = make(
    "div",
    { class: "heads", "aria-hidden": "true" },
    make("span", {}),
    titles,
    make("span", { class: "unit" }, data.unit),
    make(
      "span",
      { class: "bars" },
      ...data.labels.map((label, i) =>
        make("span", { class: i ? "half" : "half left", title: label }, label),
      ),
    ),
  );
  const rows = data.rows.map((row) => rowOf(row, data, theme, send));
  const about = data.labels.length ? `${data.unit}, by gold label` : data.unit;
  return make(
    "section",
    { "aria-label": "Who is right", class: "who" },
    make(
      "header",
      {},
      make("b", {}, "Who is right"),
      make("span", {}, `${about}; a click filters`),
    ),
    heads,
    make("ol", {}, ...rows),
  );
}
