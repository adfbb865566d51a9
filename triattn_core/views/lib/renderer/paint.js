// A figure as it is drawn: every panel with its labels and marks, and the colour bars.

import { describeSigns, paintCells } from "../cells.js";
import { paintColourBar } from "../colour_bar.js";
import { fitCanvas } from "../fit_canvas.js";
import { paintColumnLabels, paintRowLabels } from "../labels.js";
import { paintFrame, paintHatch, paintRing } from "../marks.js";
import { paintBeside } from "./beside.js";
import { chosenPanel, hostOf, isChosen, valueAt, valuesOf } from "./description.js";
import { paintHeading, paintLines } from "./heading.js";
import { isThumbs, markOf } from "./layout.js";
import { paintThumbs } from "./thumbs.js";

const LEGIBLE = 16; // pixels of a row whose frame may run through labels and bars
const LABEL = 96; // of a leaning label
const PALE = 0.45; // of the frames in panels that are not chosen

/**
 * The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables}
 */
export function paintFigure(ctx, data, layout, theme, state) {
  for (const box of layout.boxes) {
    if (isThumbs(box.panel)) {
      paintThumbs(ctx, box, data, theme, state);
      continue;
    }
    paintHeading(ctx, box, data, theme, state);
    paintLabels(ctx, box, layout, data, theme, state);
    paintMap(ctx, box, data, theme, state);
    paintChosen(ctx, box, data, theme, state.cell);
    paintBeside(ctx, box, layout, data, theme, state);
  }
  layout.bars.forEach((bar, i) => paintScale(ctx, bar, i === 0, layout, data, theme, state));
  const { x, y, room } = layout.words;
  paintLines(ctx, data.scale_lines, x, y, room, theme);
}

function paintLabels(ctx, box, layout, data, theme, state) {
  const { panel, rows, columns, x, y } = box;
  const [r, c] = [panel.rows, panel.columns].map((name) => data.axisOf[name]);
  const look = (axis, ink) => ({
    chosen: state.cell[axis],
    hover: state.hover?.[axis] ?? -1,
    colour: theme[ink],
  });
  if (box.labelled) {
    const tokens = data.axes[panel.rows];
    const lead = markOf(panel, "bars", "left")?.size ?? 0;
    const more = { ...look(r, tokens.ink), room: layout.own - 12 };
    paintRowLabels(ctx, rows, tokens, x - lead, y, theme, more);
  }
  if (!box.named && !box.tokens) return;
  const tokens = box.tokens ? numberedTokens(box, data, state) : data.axes[panel.columns];
  const more = { ...look(c, tokens.ink ?? panel.columns), room: LABEL };
  const weights = columnStrengths(box, data, state);
  paintColumnLabels(ctx, columns, tokens, x, y, theme, { ...more, weights });
}

/** Columns whose labels are numbers of the panel that is shown. */
function numberedTokens({ panel, tokens }, data, { cell }) {
  const numbers = panel.numbers && valuesOf(data, panel, panel.numbers, cell);
  return numbers ? { ...tokens, label: [...numbers].map(String) } : tokens;
}

/** The largest level of each column, by which labels give way where they do not all fit. */
function columnStrengths(box, data, { cell }) {
  const host = hostOf(data, box.panel, cell);
  if (box.strengths?.host === host) return box.strengths.of;
  const levels = levelsOf(box.panel, data, cell);
  const count = box.columns.at.length;
  const zero = data.scales[box.panel.cells.scale].kind === "signed" ? 127 : 0;
  const of = Array.from({ length: count }, () => 0);
  levels.forEach((level, i) => (of[i % count] = Math.max(of[i % count], Math.abs(level - zero))));
  box.strengths = { host, of };
  return of;
}

const levelsOf = (panel, data, cell) => valuesOf(data, panel, panel.cells.levels, cell);

/**
 * The cells, painted once for a layout: a step of the crosshair only lays the picture down again.
 */
function paintMap(ctx, box, data, theme, state) {
  const { panel, rows, columns, x, y } = box;
  const count = columns.at.length;
  const levels = levelsOf(panel, data, state.cell);
  const colours = state.tables[data.scales[panel.cells.scale].kind];
  const level = (r, c) => levels[r * count + c];
  const flag = (name) => name && valuesOf(data, panel, name, state.cell);
  const [masked, within] = [flag(panel.cells.masked), flag(panel.cells.within)];
  if (!ctx.drawImage) paintCells(ctx, rows, columns, x, y, level, colours);
  else {
    const density = ctx.getTransform().a; // a saved picture is sharper than the screen
    if (box.sheet?.density !== density || box.sheet.levels !== levels || box.sheet.of !== colours) {
      const canvas = document.createElement("canvas");
      const [wide, high] = [columns.size, rows.size].map(Math.ceil);
      paintCells(fitCanvas(canvas, wide, high, density), rows, columns, 0, 0, level, colours);
      box.sheet = { density, levels, of: colours, canvas };
    }
    ctx.drawImage(box.sheet.canvas, x, y, Math.ceil(columns.size), Math.ceil(rows.size));
  }
  if (masked) paintHatch(ctx, rows, columns, x, y, (r, c) => masked[r * count + c], theme);
  if (!within) return;
  ctx.fillStyle = theme.hairline; // a difference that is no greater than between seeds
  rows.at.forEach((top, r) =>
    columns.at.forEach((left, c) => {
      if (within[r * count + c])
        ctx.fillRect(x + left, y + top, columns.pitch - columns.line, rows.pitch - rows.line);
    }),
  );
}

/** The chosen row and column in every panel, the cell where it is chosen. */
function paintChosen(ctx, box, data, theme, cell) {
  const { panel, rows, columns, x, y, left } = box;
  const [r, c] = [panel.rows, panel.columns].map((name) => cell[data.axisOf[name]]);
  const own = !panel.chooses || isChosen(data, panel, cell);
  const [down, across] = [panel.rows, panel.columns].map((name) => data.axes[name]?.ink ?? name);
  // In thin rows lines would strike through labels and numbers, which wear their colour already.
  const from = left === undefined || rows.pitch < LEGIBLE ? x - 3 : left + 2;
  ctx.globalAlpha = own ? 1 : PALE;
  paintFrame(ctx, columns, c, y - 3, y + rows.size + 2, x, theme[across], true);
  paintFrame(ctx, rows, r, from, x + columns.size + 2, y, theme[down]);
  ctx.globalAlpha = 1;
  if (own) paintRing(ctx, rows, columns, r, c, x, y, theme);
}

function paintScale(ctx, { name, x, y, wide }, isFirst, layout, data, theme, state) {
  const scale = data.scales[name];
  const users = data.panels.filter((panel) => panel.cells.scale === name);
  const chosen = users.length === 1 ? users[0] : chosenPanel(data, state.cell);
  const alone = users.length === 1 || chosen.chooses;
  const drawn = chosen.arrays.values ? "values" : "weights";
  const masked = alone && valueAt(data, chosen, "masked", state.cell);
  const pointer = alone && !masked ? (valueAt(data, chosen, drawn, state.cell) ?? null) : null;
  const [{ rows, columns }] = layout.boxes;
  const dashed = scale.kind === "signed" && users.some((panel) => !isThumbs(panel));
  const signs = dashed ? signsOf(users, rows, columns) : "";
  const mark = isFirst ? data.mark : "";
  const colours = state.tables[scale.kind];
  paintColourBar(ctx, x, y, wide, scale, colours, theme, { mark, pointer, signs });
}

/** What is said of dashes on cells below zero. */
function signsOf(panels, rows, columns) {
  const levels = panels.flatMap((panel) => [...(panel.arrays[panel.cells.levels]?.values ?? [])]);
  return describeSigns(
    rows,
    columns,
    levels.map((level) => level - 127),
  );
}
