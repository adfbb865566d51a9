// Texts as the user knows them, a chat or a passage, beside the answers that can be chosen.
// Draws elements only: what was typed is text, never HTML.

import { make } from "../lib/elements.js";
import { applyTheme, onThemeChange, themeFor } from "../lib/theme.js";
import { optionsSide } from "./options.js";
import { textsSide } from "./texts.js";

const ABOVE_READ = 60; // pixels of unread text above the first that a model reads
const ABOVE_CHOSEN = 150; // pixels of the list above the chosen option

/**
 * Draws into `root`; again with a new payload it keeps how far both lists were scrolled, and where
 * the focus was.
 */
export function mount(root, payload, host = {}) {
  const kept = (root.triattn ??= { scrolled: {} });
  const theme = themeFor(payload.themes, root);
  kept.stop?.();
  const focused = root.getRootNode().activeElement?.dataset?.option;
  const send = (what, at) => {
    if (what === "option") pressOption(root, at);
    host.send?.(what, at);
  };
  const { texts, options } = payload.words;
  const left = make("section", { "aria-label": texts }, ...textsSide(payload));
  const right = make("section", { "aria-label": options }, ...optionsSide(payload, theme, send));
  const several = payload.models.length > 1; // models, whose bars need room
  const outer = make(
    "div",
    { class: "answers" },
    make("div", { class: several ? "sides wide" : "sides" }, left, right),
  );
  applyTheme(outer, theme);
  root.replaceChildren(outer);
  scrollBoxes(outer, payload, kept);
  if (focused !== undefined) outer.querySelector(`[data-option="${focused}"]`)?.focus();
  kept.stop = onThemeChange(() => mount(root, payload, host));
  return kept.stop;
}

/** Marks the option as chosen before the page has answered. */
function pressOption(root, at) {
  for (const pick of root.querySelectorAll(".pick")) {
    pick.setAttribute("aria-pressed", String(Number(pick.dataset.option) === at));
  }
}

/** Marks where a list goes on beyond its edges, for the style sheet. */
function markRest(box) {
  box.classList.toggle("above", box.scrollTop > 2);
  box.classList.toggle("below", box.scrollTop + box.clientHeight < box.scrollHeight - 2);
}

/** Scrolls both lists to where they were, else to what is read and to what is chosen. */
function scrollBoxes(outer, payload, kept) {
  const begins = !payload.chat && payload.texts[0].begins > 0;
  for (const box of outer.querySelectorAll("[data-scroll]")) {
    const name = box.dataset.scroll;
    const unread = begins ? box.querySelector(".passage > .mute") : null;
    const last = name === "texts" && payload.chat ? box.scrollHeight : 0;
    const first = unread ? unread.offsetTop + unread.offsetHeight - ABOVE_READ : last;
    box.scrollTop = kept.scrolled[name] ?? first;
    box.addEventListener("scroll", () => {
      kept.scrolled[name] = box.scrollTop;
      markRest(box);
    });
    new ResizeObserver(() => markRest(box)).observe(box);
  }
  const row = outer.querySelector('[aria-pressed="true"]');
  if (row && kept.scrolled.options === undefined) {
    row.closest("[data-scroll]").scrollTop = Math.max(0, row.offsetTop - ABOVE_CHOSEN);
  }
  outer.querySelectorAll("[data-scroll]").forEach(markRest);
}
