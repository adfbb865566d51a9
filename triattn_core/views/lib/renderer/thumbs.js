// A panel whose cells are small maps themselves, with numbers below each: all heads at once.

import { clamp } from "../arrays.js";
import { paintCells } from "../cells.js";
import { paintColumnLabels, paintRowLabels, widestLabel } from "../labels.js";
import { formatNumber } from "../numbers.js";
import { drawText } from "../text_drawing.js";
import { valuesOf } from "./description.js";

const TOP = 22;
const BELOW = 16; // pixels of a number below a map
const GAP = 8;
const LABEL_GAP = 8; // between the name of a row and its first map
const NARROW = 34; // a map that has no room for its number
const LEAST = 14;
const MISSING = 18; // of a line of words between rows

/** Where everything stands for a given width. */
export function layoutThumbs(ctx, data, width, theme) {
  const [panel] = data.panels;
  const { down, across, largest, below: numbers = [], gaps = [] } = panel.cells;
  const [wanted, most] = data.grid.labels;
  const [wide400, wide700] = [400, 700].map((weight) =>
    widestLabel(ctx, data.axes[panel.rows], theme, weight),
  );
  const own = Math.ceil(clamp(Math.max(wide400 + 14, wide700 + LABEL_GAP), wanted, most));
  const count = data.sizes[panel.columns];
  const pitch = clamp((width - own) / count, LEAST + 2, largest[0] + GAP);
  const gap = pitch < NARROW ? 2 : GAP;
  const wide = pitch - gap;
  const tallest = Math.max(...down.map((rows, i) => rows / across[i]));
  const high = clamp(wide * tallest, LEAST, largest[1]);
  const below = wide < NARROW ? gap : BELOW * numbers.length + gap;
  const at = [];
  let foot = TOP;
  down.forEach((_, i) => {
    foot += gaps[i] ? MISSING : 0;
    at.push(foot - TOP);
    foot += high + below;
  });
  const end = foot;
  foot += gaps[down.length] ? MISSING : 0;
  const rows = { at, pitch: high + below, size: end - TOP, line: 0 };
  const starts = Array.from({ length: count }, (_, i) => i * pitch);
  const columns = { at: starts, pitch: wide, size: count * pitch - gap, line: 0 };
  const box = { panel, rows, columns, x: own, y: TOP, top: TOP, labelled: true, named: true };
  return { width, own, lean: TOP, boxes: [{ ...box, span: columns.size, high, end }], foot };
}

/** An axis of `count` cells in `size` pixels. */
const evenly = (count, size) => ({
  at: Array.from({ length: count }, (_, i) => (i * size) / count),
  pitch: size / count,
  size,
  line: 0,
});

/** How many maps a row has, which may be fewer than others have. */
export const mapsIn = ({ arrays, cells }, row) =>
  arrays[cells.levels[row]].values.length / (cells.down[row] * cells.across[row]);

export function paintThumbs(ctx, box, data, theme, state) {
  const { panel, rows, columns, x, y, high } = box;
  const cell = state.unchosen ? [-1, -1] : state.cell;
  const look = (axis) => ({
    chosen: cell[axis],
    hover: -1,
    colour: theme.accent,
    room: x - LABEL_GAP,
  });
  const lines = { ...rows, pitch: high };
  paintRowLabels(ctx, lines, data.axes[panel.rows], x, y, theme, look(0));
  paintColumnLabels(ctx, columns, data.axes[panel.columns], x, y + 2, theme, look(1));
  panel.cells.levels.forEach((_, row) => paintRow(ctx, box, row, cell, data, theme, state));
  (panel.cells.gaps ?? []).forEach((words, i) => {
    const top = i < rows.at.length ? y + rows.at[i] - MISSING : box.end;
    drawText(ctx, words, x, top + 12, theme.muted, { size: 11, theme, room: columns.size });
  });
}

function paintRow(ctx, box, row, cell, data, theme, state) {
  const { panel, rows, columns, x, y, high } = box;
  const { scale, scales = [], levels, down, across, names = [] } = panel.cells;
  const { values } = panel.arrays[levels[row]];
  const [tall, wide] = [down[row], across[row]];
  const colours = state.tables[data.scales[scales[row] ?? scale].kind];
  const [axisDown, axisAcross] = [evenly(tall, high), evenly(wide, columns.pitch)];
  const top = y + rows.at[row];
  for (let i = 0; i < mapsIn(panel, row); i++) {
    const left = x + columns.at[i];
    const level = (r, c) => values[(i * tall + r) * wide + c];
    paintCells(ctx, axisDown, axisAcross, left, top, level, colours);
    const chosen = row === cell[0] && i === cell[1];
    const under = state.hover?.[0] === row && state.hover?.[1] === i;
    ctx.lineWidth = chosen ? 2.5 : 1;
    ctx.strokeStyle = chosen ? theme.query : under ? theme.text : theme.hairline;
    const edge = chosen ? 2 : 0.5;
    ctx.strokeRect(left - edge, top - edge, columns.pitch + 2 * edge, high + 2 * edge);
    paintNumbers(ctx, box, row, i, chosen, data, theme);
  }
  if (columns.pitch < NARROW) return;
  const look = { size: 11, align: "right", theme };
  names.forEach((name, line) => {
    if (!Number.isNaN(numberOf(box, line, row, 0, data)))
      drawText(ctx, name, x - 8, top + high + 13 + line * BELOW, theme.muted, look);
  });
}

const numberOf = ({ panel }, line, row, column, data) =>
  valuesOf(data, panel, panel.cells.below[line])[row * data.sizes[panel.columns] + column];

/** The numbers below a map. */
function paintNumbers(ctx, box, row, column, chosen, data, theme) {
  const { panel, columns, x, y, rows, high } = box;
  if (columns.pitch < NARROW) return;
  const look = { size: 11, weight: chosen ? 700 : 400, align: "center", theme };
  (panel.cells.below ?? []).forEach((_, line) => {
    const value = numberOf(box, line, row, column, data);
    const middle = x + columns.at[column] + columns.pitch / 2;
    const foot = y + rows.at[row] + high + 13 + line * BELOW;
    const ink = chosen ? theme.text : theme.muted;
    if (!Number.isNaN(value)) drawText(ctx, formatNumber(value), middle, foot, ink, look);
  });
}
