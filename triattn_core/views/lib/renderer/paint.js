// A figure as it is drawn: every panel with its labels and marks, and the colour bars.

import { clamp } from "../arrays.js";
import { describeSigns, paintCells } from "../cells.js";
import { paintColourBar } from "../colour_bar.js";
import { fitCanvas } from "../fit_canvas.js";
import { drawText, wrapText } from "../text_drawing.js";
import { longestLabel, paintColumnLabels } from "../labels.js";
import { paintFrame, paintHatch, paintRing } from "../marks.js";
import { valueOfLevel } from "../scales.js";
import { paintBeside } from "./beside.js";
import { paintCharts } from "./charts.js";
import {
  chosenColumn,
  chosenPanel,
  fillText,
  isChosen,
  isGone,
  levelsOf,
  orderOf,
  planeOf,
  shownCell,
  valueAt,
  valuesOf,
} from "./description.js";
import { aimAt, paintFocusLabels, paintGround, partOf, partsOf } from "./focus.js";
import { paintGroup, paintSmallHeading } from "./groups.js";
import { paintHeading, paintLines, paintTemplates } from "./heading.js";
import { isThumbs, markOf } from "./layout.js";
import { paintOrientation } from "./orientation.js";
import { paintSliceTitle } from "./slice_titles.js";
import { paintThumbs } from "./thumbs.js";

const LEGIBLE = 16; // pixels of a row whose frame may run through labels and bars
const FEW = 1000; // cells that, as slices, are painted faster than a picture of them is made
const PALE = 0.45; // of the frames in panels that are not chosen

/** The whole figure; `ctx`: the screen's, a PNG's or an SVG's.  state: {cell, hover, tables} */
export function paintFigure(ctx, data, layout, theme, chosen) {
  const state = { ...chosen, cell: shownCell(data, chosen.cell) };
  for (const box of layout.boxes) {
    if (isThumbs(box.panel)) {
      paintThumbs(ctx, box, data, theme, state);
      continue;
    }
    aimAt(box.rows, state.cell[data.axisOf[box.panel.rows]]);
    if (box.begins) paintGroup(ctx, box, layout, data, theme, state.cell);
    if (box.panel.small) paintSmallHeading(ctx, box, theme);
    else if (data.sliced) paintSliceTitle(ctx, box, data, layout.width, theme, state);
    else if (box.top) paintHeading(ctx, box, data, theme, state);
    paintLabels(ctx, box, layout, data, theme, state);
    if (levelsOf(box.panel, data, state.cell)) {
      paintMap(ctx, box, data, theme, state);
      paintChosen(ctx, box, data, theme, state.cell);
    } else paintEmpty(ctx, box, theme);
    paintBeside(ctx, box, layout, data, theme, state);
  }
  layout.bars.forEach((bar, i) => paintScale(ctx, bar, i === 0, layout, data, theme, state));
  const { x, y, room } = layout.words;
  const panel = chosenPanel(data, state.cell);
  const lines = isGone(panel) ? [] : data.scale_lines;
  paintTemplates(ctx, lines, panel, data, state.cell, x, y, room, theme);
  paintCharts(ctx, layout, data, theme, state.cell);
  if (data.sliced) paintOrientation(ctx, layout, data, theme, state.cell);
}

/** The place of cells that are not there, and why. */
function paintEmpty(ctx, { panel, rows, columns: { size: span }, x, y }, theme) {
  ctx.strokeStyle = theme.hairline;
  ctx.lineWidth = 1;
  ctx.strokeRect(x + 0.5, y + 0.5, span - 1, rows.size - 1);
  const lines = wrapText(ctx, panel.empty ?? "", span - 20, theme);
  if (rows.size > 24) paintLines(ctx, lines, x + 10, y + 22, Infinity, theme);
}

function paintLabels(ctx, box, layout, data, theme, state) {
  const { panel, rows, columns, x, y } = box;
  const [r, c] = [panel.rows, panel.columns].map((name) => data.axisOf[name]);
  const look = (axis, ink, room) => ({
    chosen: state.cell[axis],
    hover: state.hover?.[axis] ?? -1,
    colour: theme[ink],
    room: layout.room ?? room,
  });
  if (box.labelled) {
    const tokens = data.axes[panel.rows];
    const lead = markOf(panel, "bars", "left")?.size ?? 0;
    const more = look(r, tokens.ink, layout.own - 12);
    const taken = paintGroundOf(ctx, box, layout, data, theme, state.cell);
    paintFocusLabels(ctx, rows, tokens, x - lead, y, theme, more, taken);
  }
  if (!box.named && !box.tokens) return;
  if (orderOf(data, panel, state.cell)) {
    paintPlace(ctx, box, data, theme, state.cell);
    return;
  }
  const tokens = box.tokens ? numberedTokens(box, data, state) : data.axes[panel.columns];
  const more = look(c, tokens.ink ?? panel.columns, longestLabel());
  paintColumnLabels(ctx, columns, tokens, x, y, theme, more);
}

/** Of columns in an order of their own the number of the chosen one alone. */
function paintPlace(ctx, { panel, columns, x, y }, data, theme, cell) {
  const name = `${panel.columns} ${cell[data.axisOf[panel.columns]] + 1}`;
  const at = columns.at[chosenColumn(data, panel, cell)];
  const left = clamp(x + at - 24, x, x + columns.size - 70);
  drawText(ctx, name, left, y - 8, theme[panel.columns], { weight: 650, theme });
}

/** The ground of the chosen panel behind the labels; returns where its words stand, or null. */
function paintGroundOf(ctx, { panel, rows, x, y }, { own }, data, theme, cell) {
  const mark = markOf(panel, "ground");
  if (!mark) return null;
  const { arrays, answer } = chosenPanel(data, cell);
  const { values } = arrays[mark.flags];
  return paintGround(ctx, rows, values, answer?.label ?? "", x, y, own, theme);
}

/** Columns whose labels are numbers of the panel that is shown. */
function numberedTokens({ panel, tokens }, data, { cell }) {
  const numbers = panel.numbers && valuesOf(data, panel, panel.numbers, cell);
  return numbers ? { ...tokens, label: [...numbers].map(String) } : tokens;
}

/**
 * The cells, many of them painted once for a layout: a step of the crosshair only lays the
 * picture down again.
 */
function paintMap(ctx, box, data, theme, state) {
  const { panel, rows, columns, x, y } = box;
  const levels = levelsOf(panel, data, state.cell);
  const colours = coloursOf(state, data.scales[panel.cells.scale]);
  const column = orderOf(data, panel, state.cell) ?? columns.at.map((_, c) => c);
  const { from, down, across } = planeOf(data, panel, panel.cells.levels, state.cell);
  const level = (r, c) => levels[from + r * down + column[c] * across];
  const paintParts = (target, left, top) => {
    for (const part of partsOf(rows)) {
      const own = part.from ? (r, c) => level(part.from + r, c) : level;
      paintCells(target, part, columns, left, top, own, colours);
    }
  };
  const flag = (name) => name && valuesOf(data, panel, name, state.cell);
  const [masked, within] = [flag(panel.cells.masked), flag(panel.cells.within)];
  if (!ctx.drawImage || levels.length <= FEW || data.sliced) paintParts(ctx, x, y);
  else {
    const density = ctx.getTransform().a; // a saved picture is sharper than the screen
    const key = [density, levels, colours, rows.first];
    if (!box.sheet || key.some((one, i) => one !== box.sheet.key[i])) {
      const canvas = document.createElement("canvas");
      const [wide, high] = [columns.size, rows.size].map(Math.ceil);
      paintParts(fitCanvas(canvas, wide, high, density), 0, 0);
      box.sheet = { key, canvas };
    }
    ctx.drawImage(box.sheet.canvas, x, y, Math.ceil(columns.size), Math.ceil(rows.size));
  }
  const out = masked && planeOf(data, panel, panel.cells.masked, state.cell);
  const isOut = (r, c) => masked[out.from + r * out.down + c * out.across];
  if (masked) paintHatch(ctx, rows, columns, x, y, isOut, theme);
  if (!within) return;
  ctx.fillStyle = theme.hairline; // a difference that is no greater than between seeds
  rows.at.forEach((top, r) =>
    columns.at.forEach((left, c) => {
      if (within[from + r * down + c * across])
        ctx.fillRect(x + left, y + top, columns.pitch - columns.line, rows.pitch - rows.line);
    }),
  );
}

/** The chosen row and column in every panel, the cell where it is chosen. */
function paintChosen(ctx, box, data, theme, cell) {
  const { panel, rows, columns, x, y, left } = box;
  const [r, c] = [cell[data.axisOf[panel.rows]], chosenColumn(data, panel, cell)];
  const own = !panel.chooses || isChosen(data, panel, cell);
  const [down, across] = [panel.rows, panel.columns].map((name) => data.axes[name]?.ink ?? name);
  // In thin rows lines would strike through labels and numbers, which wear their colour already.
  const from = left === undefined || rows.pitch < LEGIBLE ? x - 3 : left + 2;
  ctx.globalAlpha = own ? 1 : PALE;
  if (!panel.small) paintFrame(ctx, columns, c, y - 3, y + rows.size + 2, x, theme[across], true);
  const row = { ...partOf(rows, r), at: rows.at };
  paintFrame(ctx, row, r, from, x + columns.size + 2, y, theme[down]);
  ctx.globalAlpha = 1;
  if (own) paintRing(ctx, row, columns, r, c, x, y, theme);
}

/** A colour bar; of those below their panels the first of a line says what all of them are. */
function paintScale(ctx, { name, x, y, wide, aside }, isFirst, layout, data, theme, state) {
  const scale = { ...data.scales[name] };
  if (aside !== undefined) Object.assign(scale, { title: "", how: aside ? scale.how : "" });
  if (aside) {
    const look = { size: 12, align: "right", theme, room: aside };
    data.scales[name].title
      .split(", ")
      .forEach((line, i) => drawText(ctx, line, x - 8, y + 26 + 14 * i, theme.muted, look));
  }
  const users = data.panels.filter((panel) => panel.cells.scale === name);
  const among = users.find((panel) => isChosen(data, panel, state.cell));
  const chosen = users.length === 1 ? users[0] : (among ?? chosenPanel(data, state.cell));
  const alone = users.length === 1 || chosen.chooses || data.sliced;
  const there = alone && !valueAt(data, chosen, "masked", state.cell);
  const pointer = there ? drawnValue(data, chosen, scale, state.cell) : null;
  const [{ rows, columns }] = layout.boxes;
  const dashed = scale.kind === "signed" && aside !== 0 && users.some((one) => !isThumbs(one));
  const isBelow = (panel) => levelsOf(panel, data, state.cell)?.some((level) => level < 127);
  const signed = aside ? data.panels : users;
  const signs = describeSigns(rows, columns, dashed && signed.some(isBelow));
  const even = data.even && isFirst ? valueAt(data, chosen, data.even, state.cell) : undefined;
  if (even !== undefined) scale.uniform = even;
  const mark = isFirst ? fillText(data, data.mark, chosen, state.cell) : "";
  const colours = coloursOf(state, scale);
  paintColourBar(ctx, x, y, wide, scale, colours, theme, { mark, pointer, signs });
}

/** The colours of a scale: a sequential one where it has none of its own. */
const coloursOf = ({ tables }, { kind }) => tables[kind] ?? tables.log;

/** What a cell of a panel has on its scale: exact where that was sent; null without one. */
function drawnValue(data, panel, scale, cell) {
  const exact = panel.arrays.values ? "values" : "weights";
  if (panel.arrays[exact]) return valueAt(data, panel, exact, cell);
  const level = valueAt(data, panel, panel.cells.levels, cell);
  if (valuesOf(data, panel, panel.cells.levels, cell) instanceof Float32Array) return level;
  return level === undefined || isThumbs(panel) ? null : valueOfLevel(scale, level);
}
