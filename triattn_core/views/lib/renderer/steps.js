// Where steps lead on coordinates that are not of the maps' words, and what a step takes along.

import { clamp } from "../arrays.js";
import { chosenPanel, isGone, orderOf, shownCell, valueAt } from "./description.js";
import { cellInSlice } from "./slices.js";

const ARROWS = { ArrowUp: [-1], ArrowDown: [1], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The places of a coordinate in the order of its steps, without those where nothing is. */
function placesOf(data, name, cell) {
  const ordered = data.panels.find((panel) => panel.columns === name && panel.cells.order);
  const order = ordered && orderOf(data, ordered, cell);
  if (order) return [...order];
  const gone = new Set(
    data.panels
      .filter((panel) => panel.chooses?.[0] === name && isGone(panel))
      .map(({ chooses }) => chooses[1]),
  );
  return Array.from({ length: data.sizes[name] }, (_, i) => i).filter((i) => !gone.has(i));
}

/** The next cell for a key, of slices in a panel, or null where the key is not ours. */
export const cellForKey = (data, chosen, event, panel = 0) =>
  data.sliced
    ? cellInSlice(data, chosen, panel, event.key)
    : (onCoordinate(data, chosen, event) ??
      (ARROWS[event.key] ? chosen.map((i, axis) => i + (ARROWS[event.key][axis] ?? 0)) : null));

/** The next cell for a key of a coordinate, or null where no coordinate has it. */
function onCoordinate(data, chosen, { key, shiftKey }) {
  const pressed = (shiftKey && key.startsWith("Arrow") ? "Shift+" : "") + key;
  const [name, { keys = [] } = {}] =
    Object.entries(data.moves ?? {}).find(([, one]) => one.keys?.includes(pressed)) ?? [];
  const cell = shownCell(data, chosen);
  if (!name || isGone(chosenPanel(data, cell))) return null;
  if (!data.panels.some((panel) => panel.columns === name || panel.chooses?.[0] === name))
    return null;
  const axis = data.axisOf[name];
  const places = placesOf(data, name, cell);
  const at = places.indexOf(cell[axis]) + (keys.indexOf(pressed) ? 1 : -1);
  return Object.assign(cell.with(axis, places[clamp(at, 0, places.length - 1)]), { own: name });
}

/**
 * From one cell to another: what was chosen for a word stays while the word does; else a coordinate
 * that goes along with it is where that word has its largest number.
 */
export function followCell(data, from, to) {
  for (const [name, { along, to: arrays }] of Object.entries(data.moves ?? {})) {
    if (!along || to.own === name) continue;
    const [axis, word] = [data.axisOf[name], data.axisOf[along]];
    const [before, after] = [from, to].map((cell) => chosenPanel(data, shownCell(data, cell)));
    const usual = arrays.map((array) => valueAt(data, before, array, from));
    const chosen = before === after || !usual.includes(from[axis]);
    if (to[word] !== from[word] || !chosen) to[axis] = valueAt(data, after, arrays[0], to) ?? 0;
  }
  return to;
}
