// The description of a figure (figure.py) unpacked: arrays by name, where a cell stands in them,
// and the templates of its readout.

import { sum, unpackBytes } from "../arrays.js";
import { spokenLabel } from "../label_text.js";
import { formatNumber, formatPercent, formatProbability, formatSigned } from "../numbers.js";
import { valueOfLevel } from "../scales.js";

const TYPES = { u1: Uint8Array, u2: Uint16Array, f4: Float32Array };
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
  rank: (x) => (x ? String(x) : MISSING),
  count: String,
  there: (x) => (Number.isNaN(x) ? NOT_THERE : formatNumber(x)),
  change: (x) => (Number.isNaN(x) ? NOT_THERE : formatSigned(x)),
  probability: formatProbability,
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
  const panels = payload.panels.map((panel) => ({
    ...panel,
    arrays: Object.fromEntries(
      Object.entries(panel.arrays ?? {}).map(([name, array]) => [name, open(array)]),
    ),
  }));
  return { ...payload, panels, axisOf, sizes };
}

const unpackBits = (bytes, count) =>
  Uint8Array.from({ length: count }, (_, i) => (bytes[i >> 3] >> (BITS - 1 - (i % BITS))) & 1);

export const isChosen = (data, { chooses }, cell) =>
  Boolean(chooses) && cell[data.axisOf[chooses[0]]] === chooses[1];

/** The panel that is chosen: where a click chooses none, the first. */
export const chosenPanel = (data, cell) =>
  data.panels.find((panel) => isChosen(data, panel, cell)) ?? data.panels[0];

/** The panel whose arrays a panel shows: its own, or those of the one that is chosen. */
export const hostOf = (data, panel, cell) => (panel.follows ? chosenPanel(data, cell) : panel);

export const valuesOf = (data, panel, name, cell) =>
  hostOf(data, panel, cell).arrays[name]?.values ?? null;

/** A number of a panel at a cell; undefined where the panel has no such array. */
export function valueAt(data, panel, name, cell) {
  const array = hostOf(data, panel, cell).arrays[name];
  return array?.values[sum(array.steps.map(([axis, step]) => cell[axis] * step))];
}

/** A template as pieces [text, ink]; ink is the colour of a word. */
export function fillTemplate(data, template, panel, cell) {
  const host = hostOf(data, panel, cell);
  return template.split(NAMES).map((part, i) => {
    if (i % 2 === 0) return [part, ""];
    const [name, format = "number"] = part.split(":");
    const axis = data.axes[name];
    if (axis)
      return [spokenLabel(axis, cell[data.axisOf[name]]), format === "plain" ? "" : axis.ink];
    if (name === "title") return [host.title, ""];
    if (name === "head") return [host.title.split(",")[0], ""];
    if (name === "help") return [host.help, ""];
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

/** A number of the table in words. */
export function sayNumber(data, number, panel, cell) {
  if (!number) return "";
  const at = (name, where = cell) => valueAt(data, panel, name, where);
  if (number.masked !== undefined && at("masked")) return number.masked;
  const say = FORMATS[number.format];
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
export const describeCell = (data, cell) =>
  data.readout.tip
    .map((part) => {
      const text = fittingCase(data, part, cell)?.text ?? "";
      return fillText(data, text, panelOf(data, part.panel, cell), cell);
    })
    .filter(Boolean);
