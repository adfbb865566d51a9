// The description of a figure (figure.py) unpacked: arrays by name, where a cell stands in them,
// and the templates of its readout.

import { sum, unpackBytes } from "../arrays.js";
import { spokenLabel } from "../labels.js";
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatProbability,
  formatSigned,
} from "../numbers.js";
import { levelOnScale, valueOfLevel } from "../scales.js";

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };
const BITS = 8; // of a byte, the first the highest
const MISSING = "–";
const NOT_THERE = "not there"; // in one of the inputs that are compared
const NAMES = /\{([^}]*)\}/;

/** How each format of readout.py says a number. */
const FORMATS = {
  number: formatNumber,
  signed: formatSigned,
  percent: formatPercent,
  times: (x) => (Number.isNaN(x) ? MISSING : "× " + formatNumber(x)),
  rank: (x) => (x ? formatCount(x) : MISSING),
  count: formatCount,
  there: (x) => (Number.isNaN(x) ? NOT_THERE : formatNumber(x)),
  change: (x) => (Number.isNaN(x) ? NOT_THERE : formatSigned(x)),
  probability: formatProbability,
  half: (x) => (x === undefined ? MISSING : x.toFixed(2)),
  at: String,
  nth: (i) => String(i + 1),
  size: (x) => formatNumber(Math.abs(x)),
  side: (x) => (x < 0 ? "below" : "above"),
};

export const sayValue = (value, format) => FORMATS[format](value);

export function unpack(payload) {
  const sizes = Object.fromEntries(payload.coordinates);
  const axisOf = Object.fromEntries(payload.coordinates.map(([name], i) => [name, i]));
  const open = ({ over, type, data }) => {
    let step = 1;
    const steps = over.toReversed().map((name) => {
      const one = [axisOf[name], step];
      step *= sizes[name];
      return one;
    });
    const bytes = unpackBytes(data);
    const values = type === "b1" ? unpackBits(bytes, step) : new TYPES[type](bytes.buffer);
    return { values, steps };
  };
  const panels = payload.panels.map(({ arrays = {}, ...panel }) => ({
    ...panel,
    arrays: Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, open(array)])),
  }));
  for (const panel of panels)
    panel.arrays = { ...leaderOf(panels, panel, payload).arrays, ...panel.arrays };
  const { cells = [], value } = payload.inspector?.triples ?? {};
  const known = Object.fromEntries(cells.map((cell, n) => [cell.join(), value[n]]));
  const list = payload.inspector?.[payload.unfolded ? "triples" : "words"]; // with special tokens
  return { ...payload, panels, axisOf, sizes, known, list, walk: list?.cells ?? payload.walk };
}

const key = ({ chooses }) => String(chooses);

/** The first panel that chooses the same; of slices the first. */
const leaderOf = (panels, panel, { sliced }) =>
  ((panel.chooses || sliced) && panels.find((one) => key(one) === key(panel))) || panel;

/** Whether a cell joins several of the model. */
export const joinsCells = ({ axes }) =>
  Object.values(axes).some(({ cells }) => cells.some((n) => n > 1));

/** Whether a panel of a group is not there. */
export const isGone = ({ group, arrays }) => Boolean(group) && !Object.keys(arrays).length;

/** The cell that is shown: where nothing is at the chosen place, the nearest that has something. */
export function shownCell(data, cell) {
  const chosen = chosenPanel(data, cell);
  if (!isGone(chosen)) return cell;
  const [coordinate] = chosen.chooses;
  const axis = data.axisOf[coordinate];
  const [nearest] = data.panels
    .filter((panel) => panel.chooses?.[0] === coordinate && !isGone(panel))
    .map(({ chooses }) => chooses[1])
    .sort((a, b) => Math.abs(a - cell[axis]) - Math.abs(b - cell[axis]));
  return nearest === undefined ? cell : Object.assign(cell.with(axis, nearest), { own: cell.own });
}

/** The words of a coordinate, of its own or of the axis that it goes through. */
const wordsOf = (data, name) => data.axes[name] ?? data.axes[data.moves?.[name]?.words];

/** Which column stands at each place of a panel; null where they stand in their order. */
export const orderOf = (data, panel, cell) =>
  (panel.cells.order && valuesOf(data, panel, panel.cells.order, cell)) || null;

/** The place of the chosen column of a panel. */
export function chosenColumn(data, panel, cell) {
  const column = cell[data.axisOf[panel.columns]];
  return orderOf(data, panel, cell)?.indexOf(column) ?? column;
}

const LEVELS = new WeakMap(); // of exact values, by their arrays

/** The levels of a panel's cells, also where exact values were sent; null where it has none. */
export function levelsOf(panel, data, cell) {
  const values = valuesOf(data, panel, panel.cells.levels, cell);
  if (!(values instanceof Float32Array)) return values;
  const scale = data.scales[panel.cells.scale];
  if (!LEVELS.has(values))
    LEVELS.set(
      values,
      Uint8Array.from(values, (value) => levelOnScale(scale, value)),
    );
  return LEVELS.get(values);
}

const unpackBits = (bytes, count) =>
  Uint8Array.from({ length: count }, (_, i) => (bytes[i >> 3] >> (BITS - 1 - (i % BITS))) & 1);

export const isChosen = (data, { chooses }, cell) =>
  Boolean(chooses) && cell[data.axisOf[chooses[0]]] === chooses[1];

/** The panel that is chosen: where a click chooses none, the first. */
export const chosenPanel = (data, cell) =>
  data.panels.find((panel) => isChosen(data, panel, cell)) ?? data.panels[0];

/** The panel whose arrays a panel shows: its own, or those of the one that is chosen. */
const hostOf = (data, panel, cell) => (panel.follows ? chosenPanel(data, cell) : panel);

export const valuesOf = (data, panel, name, cell) =>
  hostOf(data, panel, cell).arrays[name]?.values ?? null;

/**
 * Where an array of a panel has its first cell, on what else it is over at the chosen place, and
 * the steps to the next row and column: a slice is cut from one array.
 */
export function planeOf(data, panel, name, cell) {
  const { steps } = hostOf(data, panel, cell).arrays[name];
  const sides = [panel.rows, panel.columns].map((side) => data.axisOf[side]);
  const [down, across] = sides.map((side) => steps.find(([axis]) => axis === side)?.[1] ?? 0);
  const rest = steps.filter(([axis]) => !sides.includes(axis));
  const from = sum(rest.map(([axis, step]) => cell[axis] * step));
  return { from, down, across };
}

/**
 * A number of a panel at a cell: what the page told of it, else of the panel's array; undefined
 * where there is none.  Of the quantity beside slices also what its level stands for.
 */
export function valueAt(data, panel, name, cell) {
  const { told, inspector } = data;
  if (told?.at === String(cell) && name in told.numbers) return told.numbers[name] ?? NaN;
  const array = hostOf(data, panel, cell).arrays[name];
  if (array) return array.values[sum(array.steps.map(([axis, step]) => cell[axis] * step))];
  if (name !== inspector?.quantity) return undefined;
  const { levels, scale, masked } = panel.cells;
  const out = masked && valueAt(data, panel, masked, cell);
  const level = () => valueOfLevel(data.scales[scale], valueAt(data, panel, levels, cell));
  return data.known[cell.join()] ?? (out ? (name === "weight" ? 0 : -Infinity) : level());
}

/** Whether the quantity beside slices is known exactly. */
export const isKnown = ({ told, inspector, panels, known }, cell) =>
  inspector.quantity in panels[0].arrays || told?.at === String(cell) || cell.join() in known;

/** A template as pieces [text, ink]; ink is the colour of a word. */
export function fillTemplate(data, template, panel, cell) {
  const host = hostOf(data, panel, cell);
  return template.split(NAMES).map((part, i) => {
    if (i % 2 === 0) return [part, ""];
    const [name, format = "number"] = part.split(":");
    const axis = wordsOf(data, name);
    if (format === "at" || format === "nth") return [FORMATS[format](cell[data.axisOf[name]]), ""];
    if (axis)
      return [spokenLabel(axis, cell[data.axisOf[name]]), format === "plain" ? "" : axis.ink];
    if (name === "title") return [host.title, ""];
    if (name === "head") return [host.title.split(",")[0], ""];
    if (name === "help") return [host.help, ""];
    if (name === "about") return [isKnown(data, cell) ? "" : "about ", ""];
    const number = name.startsWith("=") ? Number(name.slice(1)) : valueAt(data, panel, name, cell);
    const value = format === "level" ? valueOfLevel(data.scales[host.cells.scale], number) : number;
    return [(FORMATS[format] ?? formatNumber)(value), ""]; // braces of a user's own are no name
  });
}

export const fillText = (data, template, panel, cell) =>
  fillTemplate(data, template, panel, cell)
    .map(([text]) => text)
    .join("");

/** The panel of a part of the readout; below zero the one that is chosen. */
export const panelOf = (data, index, cell) =>
  index < 0 ? chosenPanel(data, cell) : data.panels[index];

/** The case of a sentence that fits a cell, or undefined. */
export function fittingCase(data, { panel, cases }, cell) {
  const of = panelOf(data, panel, cell);
  return cases.find(({ when, equals }) => {
    const value = when ? valueAt(data, of, when, cell) : 0;
    if (!when) return true;
    return equals === null ? Number.isNaN(value) : value === equals;
  });
}

/** The chosen row of a panel. */
export function rowOf(data, panel, name, cell) {
  const size = data.sizes[panel.columns];
  const q = cell[data.axisOf[panel.rows]];
  return valuesOf(data, panel, name, cell).subarray(q * size, (q + 1) * size);
}

/** A number of the table in words. */
export function sayNumber(data, number, panel, cell) {
  if (!number) return "";
  const at = (name, where = cell) => valueAt(data, panel, name, where);
  if (number.masked !== undefined && at("masked")) return number.masked;
  const say = FORMATS[number.format];
  if (number.text) return fillText(data, number.text, panel, cell);
  if (number.ranked) {
    const row = rowOf(data, panel, number.array, cell);
    return `${1 + row.filter((value) => value > at(number.array)).length} of ${row.length}`;
  }
  if (number.best) {
    const best = at(number.best);
    if (best < 0) return number.otherwise[0];
    const there = cell.with(data.axisOf[panel.columns], best);
    return `${spokenLabel(data.axes[panel.columns], best)} ${say(at(number.array, there))}`;
  }
  const value = number.over ? at(number.array) / at(number.over) : at(number.array);
  const said = say(value);
  if (!number.of || said === MISSING) return said;
  const whole = !(valuesOf(data, panel, number.of, cell) instanceof Float32Array);
  return `${said} of ${FORMATS[whole ? "count" : "number"](at(number.of))}`;
}

/** What is said of a cell, for the tooltip and for a screen reader. */
export function describeCell(data, chosen) {
  const cell = shownCell(data, chosen);
  const over = data.panels.find(({ tip, columns }) => tip && columns === cell.own);
  const lines = (over?.tip ?? data.readout.tip).map((part) => {
    const text = fittingCase(data, part, cell)?.text ?? "";
    return fillText(data, text, panelOf(data, part.panel, cell), cell);
  });
  const panel = chosenPanel(data, cell);
  return (isGone(panel) ? [lines[0], panel.empty] : lines).filter(Boolean);
}
