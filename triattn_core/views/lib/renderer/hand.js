// Pointer and keys on the canvas of a figure.

import { showTip } from "../tip.js";
import { WALK_STEPS } from "../walk.js";
import { hitCell } from "./layout.js";
import { cellForKey, followCell } from "./steps.js";

export function listenToHand(figure) {
  figure.on(figure.canvas, "pointerdown", (event) => press(figure, event));
  figure.on(figure.canvas, "pointermove", (event) => move(figure, event));
  figure.on(figure.canvas, "pointerleave", () => hover(figure, null));
  figure.on(figure.canvas, "keydown", (event) => key(figure, event));
}

function cellUnder({ canvas, data, place, state }, event) {
  if (!place) return null;
  const edge = canvas.getBoundingClientRect();
  const at = [event.clientX - edge.left, event.clientY - edge.top];
  const spot = hitCell(data, place, state.cell, ...at);
  return spot && followCell(data, state.cell, spot);
}

function press(figure, event) {
  const spot = cellUnder(figure, event);
  if (!spot) return;
  figure.kept.panel = spot.spot?.panel;
  figure.choose(spot);
}

function move(figure, event) {
  const spot = cellUnder(figure, event);
  const fresh = spot && String(spot) !== String(figure.state.cell);
  if (fresh && event.buttons === 1 && spot.spot?.panel === figure.kept.panel) figure.choose(spot);
  hover(figure, spot, event);
}

function key(figure, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { data, state, kept } = figure;
  const by = WALK_STEPS[event.key];
  const next = by ? null : cellForKey(data, state.cell, event, kept.panel);
  if (!by && !next) return;
  event.preventDefault();
  event.stopPropagation();
  if (by) figure.walk(by);
  else figure.step(next);
}

/** Says at the pointer what is under it. */
function hover(figure, spot, event) {
  const { canvas, data, frame, place, state, tip } = figure;
  const same = String(spot) === String(state.hover);
  state.hover = spot;
  canvas.style.cursor = spot ? "pointer" : "default";
  const paints = !data.sliced || place?.thin; // the names of rows and columns
  if (!same && paints) figure.requestPaint();
  if (spot) showTip(tip, frame, figure.describe(spot), event);
  else tip.hidden = true;
}
