// The answers that can be chosen, with what the models give each.

import { clamp } from "../lib/arrays.js";
import { make, setLanguage } from "../lib/elements.js";
import { formatProbability } from "../lib/numbers.js";

/** What the models give an option: a bar and a number each. */
function modelBars(shares, models, theme) {
  const parts = shares.flatMap((share, m) => {
    const bar = make("i");
    Object.assign(bar.style, {
      width: 100 * clamp(share, 0, 1) + "%",
      background: theme[models[m]?.mechanism] ?? theme.accent,
    });
    return [
      make("span", { class: "track", "aria-hidden": "true" }, bar),
      make("b", {}, formatProbability(share)),
    ];
  });
  return make(
    "span",
    { class: shares.length > 1 ? "probabilities several" : "probabilities" },
    ...parts,
  );
}

function optionRow(payload, row, theme, send) {
  const { chosen, pinned, pins, words, models, roles } = payload;
  const text = setLanguage(
    make("span", { class: "text", dir: "auto", title: row.text }, row.text),
    row.text,
  );
  const look = ["pick", roles[1], ...(row.at === pinned ? ["pinned"] : [])].join(" ");
  const pick = make(
    "button",
    {
      type: "button",
      class: look,
      "aria-pressed": String(row.at === chosen),
      "data-option": row.at,
    },
    make("span", { class: "mark", title: payload.chat ? `rank ${row.rank}` : "" }, row.mark),
    text,
    ...(row.right ? [make("span", { class: "chip" }, words.right)] : []),
    modelBars(row.shares, models, theme),
  );
  pick.addEventListener("click", () => send("option", row.at));
  if (!pins) return make("li", { class: "row" }, pick);
  const label = row.at === chosen ? "first" : row.at === pinned ? "second" : "compare";
  const pin = make(
    "button",
    {
      type: "button",
      class: "pin",
      "aria-pressed": String(row.at === pinned || row.at === chosen),
      "data-pin": row.at,
    },
    label,
  );
  if (label === "compare") pin.addEventListener("click", () => send("other", row.at));
  return make("li", { class: "row" }, pick, pin);
}

export function optionsSide(payload, theme, send) {
  const { words, rows, models } = payload;
  const swatch = ({ title, mechanism }) => {
    const square = make("i", { class: "swatch" });
    square.style.background = theme[mechanism] ?? theme.accent;
    return make("span", {}, square, title);
  };
  const aside =
    models.length > 1
      ? make("span", { class: "heads" }, ...models.map(swatch))
      : make("span", {}, payload.told);
  const list = make("ol", {}, ...rows.map((row) => optionRow(payload, row, theme, send)));
  return [
    make("header", {}, make("b", {}, words.options), aside),
    make("div", { class: "scroll", "data-scroll": "options" }, list),
  ];
}
