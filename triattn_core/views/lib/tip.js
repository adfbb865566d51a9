// The tip at the pointer.

import { make } from "./elements.js";

const AWAY = 14; // pixels from the pointer

/** Fills `tip` with lines and places it in `frame` at the pointer, on the side that has room. */
export function showTip(tip, frame, lines, event) {
  tip.hidden = false;
  tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
  const edge = frame.getBoundingClientRect();
  const x = event.clientX - edge.left;
  const wide = tip.offsetWidth;
  const left = x + AWAY + wide > edge.width ? x - wide - AWAY + 2 : x + AWAY;
  const top = event.clientY - edge.top + AWAY;
  Object.assign(tip.style, { left: Math.max(0, left) + "px", top: top + "px" });
}
