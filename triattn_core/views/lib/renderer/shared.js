// The description of a figure out of the form in which it was sent (sharing.py).

const LISTS = ["joined", "place", "text", "start", "end", "special", "cells", "where"];

/** What is a description already stays one. */
export function restore(payload) {
  if (!payload.kinds) return payload;
  const { kinds, ...rest } = payload;
  const axes = Object.entries(rest.axes).map(([name, axis]) => [name, openAxis(axis)]);
  const panels = [];
  for (const { like, ...panel } of rest.panels) {
    const whole = { ...panels[like], ...openPanel(panel, kinds) };
    if (!panel.arrays) delete whole.arrays;
    panels.push(whole);
  }
  return { ...rest, axes: Object.fromEntries(axes), panels, readout: openReadout(rest.readout) };
}

function openAxis(axis) {
  const count = axis.label.length;
  const lists = LISTS.filter((name) => name in axis).map((name) => [
    name,
    Array.isArray(axis[name]) ? axis[name] : Array.from({ length: count }, () => axis[name]),
  ]);
  const open = { name: axis.label, ...axis, ...Object.fromEntries(lists) };
  const position = axis.position ?? axis.label.map((_, i) => i);
  return { ...open, where: open.where ?? open.place, position };
}

function openPanel(panel, kinds) {
  const told = panel.tip ? { ...panel, tip: panel.tip.map(openSentence) } : panel;
  if (!panel.arrays) return told;
  const arrays = Object.entries(panel.arrays).map(([name, array]) => {
    const [over, type] = kinds[name];
    if (typeof array === "string") return [name, { over, type, data: array }];
    return [name, Array.isArray(array) ? { over, type, minus: array } : array];
  });
  return { ...told, arrays: Object.fromEntries(arrays) };
}

const openSentence = (part) =>
  typeof part === "string" ? { panel: -1, cases: [{ text: part }] } : part;

const openNumber = (number) =>
  typeof number === "string"
    ? { array: number, format: "number" }
    : number && { format: "number", ...number };

const openReadout = (readout) => ({
  ...readout,
  numbers: readout.numbers.map((row) => row.map(openNumber)),
  sentences: readout.sentences.map(openSentence),
  tip: readout.tip.map(openSentence),
});
