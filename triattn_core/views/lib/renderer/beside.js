// What stands around the cells of a panel: the chosen row as bars, bars on its rows, a strip,
// lines.

import { clamp, mean } from "../arrays.js";
import { thinLabels } from "../axis.js";
import { paintAxisBars } from "../bars.js";
import { paintCells } from "../cells.js";
import { formatNumber, formatSigned } from "../numbers.js";
import { drawText } from "../text_drawing.js";
import { font } from "../theme.js";
import { fillText, rowOf, valuesOf } from "./description.js";
import { paintLines, paintTitle } from "./heading.js";
import { STRIP, markOf } from "./layout.js";
import { paintMargin } from "./margins.js";
import { paintShares } from "./shares.js";

const LONG = 44; // pixels of the longest bar of a profile
const COUNTS = 34; // of whole numbers at the far end of bars

/** The marks of a panel, each in its place. */
export function paintBeside(ctx, box, layout, data, theme, state) {
  const paint = {
    profile: paintProfile,
    bars: paintBars,
    strip: paintStrip,
    lines: paintTree,
    margin: paintMargin,
  };
  let left = box.x + box.span + 18; // of the next mark at the right
  for (const mark of box.panel.marks) {
    const isAtRight = mark.side === "right" && mark.mark === "bars";
    const takesRoom = isAtRight || ["lines", "shares"].includes(mark.mark);
    const place = takesRoom ? { ...box, span: left - 18 - box.x } : box;
    paint[mark.mark]?.(ctx, mark, place, layout, data, theme, state);
    if (mark.mark === "shares") {
      const heading = { x: left, y: box.y - box.top, end: left + mark.size - 18 };
      paintTrailingHeading(ctx, mark, heading, theme);
      paintShares(ctx, mark, box, left, data, theme, state);
    }
    if (takesRoom) left += mark.size;
  }
}

/** The chosen row of a panel; what is not finite counts as zero. */
const rowValues = (data, panel, name, cell) =>
  Array.from(rowOf(data, panel, name, cell), (value) => (Number.isFinite(value) ? value : 0));

/** The chosen row as bars below its own columns, on one scale for all panels of this scale. */
function paintProfile(ctx, mark, box, layout, data, theme, { cell, tables }) {
  const { panel, columns, x, span } = box;
  const values = rowValues(data, panel, mark.values, cell);
  const onScale = data.panels.flatMap((one) => {
    const same = one.cells.scale === panel.cells.scale && markOf(one, "profile");
    return same ? rowValues(data, one, same.values, cell) : [];
  });
  const top = Math.max(0, ...onScale);
  const pixels = LONG / (top - Math.min(0, ...onScale) || 1);
  const y = box.y + box.rows.size + 30;
  const zero = y + top * pixels;
  const k = cell[data.axisOf[panel.columns]];
  const within = valuesOf(data, panel, "within", cell);
  const from = cell[data.axisOf[panel.rows]] * values.length;
  const colourOf = (value, i) =>
    !mark.signed
      ? (theme[panel.ink] ?? theme.bar)
      : within?.[from + i]
        ? theme.bar
        : tables.signed[value < 0 ? 48 : 206];
  const thick = clamp(columns.pitch * 0.62, 1.5, 22);
  values.forEach((value, i) => {
    const size = Math.max(Math.abs(value) * pixels, 0.75);
    const wide = Math.max(thick, i === k ? 3 : 0);
    ctx.globalAlpha = i === k ? 1 : 0.55;
    ctx.fillStyle = colourOf(value, i);
    const left = x + columns.at[i] + (columns.pitch - columns.line - wide) / 2;
    ctx.fillRect(left, value < 0 ? zero : zero - size, wide, size);
  });
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.muted;
  ctx.fillRect(x, zero - 0.5, columns.size, 1);
  const exact = valuesOf(data, panel, mark.values, cell)[from + k];
  paintRowNumber(ctx, box, { zero, pixels }, values, k, sayValue(exact, mark.signed), theme);
  const name = fillText(data, mark.name ?? "", panel, cell);
  drawText(ctx, name, x, y + LONG + 18, theme.muted, { theme, room: span });
}

const sayValue = (x, signed) =>
  Number.isNaN(x) ? "not there" : signed ? formatSigned(x) : formatNumber(x);

/** The chosen number, above all bars that it is as wide as. */
function paintRowNumber(ctx, { x, columns, span }, { zero, pixels }, values, k, label, theme) {
  ctx.font = font(theme, 13, 650);
  const half = ctx.measureText(label).width / 2;
  const middleOf = (i) => x + columns.at[i] + columns.pitch / 2;
  const least = x + half - 6;
  const middle = clamp(middleOf(k), least, Math.max(x + span - half, least));
  const near = values.filter((_, i) => Math.abs(middleOf(i) - middle) < half + columns.pitch / 2);
  const tip = zero - Math.max(0, values[k], ...near) * pixels - 6;
  drawText(ctx, label, middle, tip, theme.text, { weight: 650, align: "center", theme });
}

function paintBars(ctx, mark, box, layout, data, theme, state) {
  if (mark.low) return paintShareBars(ctx, mark, box, data, theme, state);
  return mark.side === "left"
    ? paintLeading(ctx, mark, box, layout, data, theme, state)
    : paintTrailing(ctx, mark, box, data, theme, state);
}

/** Between the labels of the rows and the cells a bar a row. */
function paintLeading(ctx, mark, { panel, rows, x, y }, layout, data, theme, { cell }) {
  const { ink } = data.axes[panel.rows];
  paintAxisBars(ctx, rows, x - mark.size, y, theme, {
    values: [...valuesOf(data, panel, mark.values, cell)],
    chosen: cell[data.axisOf[panel.rows]],
    colour: theme[ink],
    length: mark.size - 52,
  });
  drawText(ctx, mark.title, x - mark.size, y - 8, theme.muted, { size: 12, theme });
}

/** At the right a share of one a row, on a track, and on it a line between two other numbers. */
function paintShareBars(ctx, mark, box, data, theme, state) {
  const { panel, rows, y, top, span } = box;
  const [values, low, high] = [mark.values, mark.low, mark.high].map((name) =>
    valuesOf(data, panel, name, state.cell),
  );
  const x = box.x + span + 18;
  const long = mark.size - 60;
  if (top) drawText(ctx, mark.title, x, y - top + 16, theme.text, { size: 15, weight: 650, theme });
  // Where a heading is one line alone, its lines stand below the bars.
  const lines = box.named ? y - top + 34 : y + rows.size + 14;
  if (top) paintLines(ctx, mark.lines, x, lines, mark.size - 18, theme);
  const q = state.cell[data.axisOf[panel.rows]];
  const thick = clamp(rows.pitch * 0.5, 2, 9);
  values?.forEach((value, i) => {
    const from = y + rows.at[i] + (rows.pitch - rows.line - thick) / 2;
    const ink = i === q ? theme.text : theme.muted;
    ctx.fillStyle = theme.faint;
    ctx.fillRect(x, from, long, thick);
    ctx.fillStyle = theme[mark.ink] ?? theme.bar;
    ctx.globalAlpha = i === q ? 0.9 : 0.45;
    ctx.fillRect(x, from, long * clamp(value, 0, 1), thick);
    ctx.globalAlpha = 1;
    ctx.fillStyle = ink;
    const middle = from + thick / 2;
    ctx.fillRect(x + long * low[i], middle - 0.75, Math.max(long * (high[i] - low[i]), 1.5), 1.5);
    const look = { weight: i === q ? 700 : 400, theme };
    drawText(ctx, value.toFixed(2), x + long + 8, middle + 4.5, ink, look);
  });
}

/** At the right a bar a row; numbers where there is room for them, their mean below. */
function paintTrailing(ctx, mark, { panel, rows, x: left, y, top, span }, data, theme, state) {
  const q = state.cell[data.axisOf[panel.rows]];
  const exact = [...valuesOf(data, panel, mark.values, state.cell)];
  const counts = mark.counts && [...valuesOf(data, panel, mark.counts, state.cell)];
  const there = (list) => list.filter((value) => !Number.isNaN(value));
  const values = exact.map((value) => (Number.isNaN(value) ? 0 : value));
  const x = left + span + 18;
  const end = x + mark.size - 18;
  paintTrailingHeading(ctx, mark, { x, y: y - top, end }, theme);
  const thick = clamp(rows.pitch * 0.36, 2, 10);
  const hover = state.hover?.[data.axisOf[panel.rows]] ?? -1;
  const rank = values.map((value) => -value);
  const visible = thinLabels(rows, 15, [q, hover], rank);
  const unit = (mark.size - 66 - COUNTS) / Math.max(...values, 1e-9);
  exact.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const middle = y + rows.at[i] + rows.pitch / 2;
    const size = Math.max(value * unit, 1);
    ctx.fillStyle = i === q ? theme.query : theme.bar;
    ctx.fillRect(x, middle - thick / 2, size, thick);
    if (!visible.has(i)) return;
    const look = { size: 12, weight: i === q ? 700 : 400, theme };
    const ink = i === q ? theme.query : theme.muted;
    drawText(ctx, formatNumber(value), x + size + 6, middle + 4.5, ink, look);
    if (counts && !Number.isNaN(counts[i]))
      drawText(ctx, String(counts[i]), end, middle + 4.5, ink, { ...look, align: "right" });
  });
  ctx.fillStyle = theme.muted;
  ctx.fillRect(x - 1, y, 1, rows.size);
  const foot = y + rows.size + 20;
  if (there(exact).length)
    drawText(ctx, "mean " + formatNumber(mean(there(exact))), x, foot, theme.muted, { theme });
  if (counts && there(counts).length) {
    const look = { align: "right", theme };
    drawText(ctx, mean(there(counts)).toFixed(1), end, foot, theme.muted, look);
  }
}

function paintTrailingHeading(ctx, { title, lines = [], counted = "" }, { x, y, end }, theme) {
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y, end - x, 1);
  paintTitle(ctx, title, x, y + 25, theme, end - x);
  paintLines(ctx, lines, x, y + 48, end - x - (counted ? COUNTS : 0), theme);
  drawText(ctx, counted, end, y + 66, theme.muted, { align: "right", theme });
}

/** One more row of cells. */
function paintStrip(
  ctx,
  mark,
  { panel, rows, columns, x, y, labelled },
  layout,
  data,
  theme,
  state,
) {
  const levels = valuesOf(data, panel, mark.levels, state.cell);
  const strip = { at: [0], pitch: STRIP, size: STRIP, line: 1 };
  const below = y + rows.size + 4;
  const colours = state.tables[data.scales[panel.cells.scale].kind];
  paintCells(ctx, strip, columns, x, below, (r, c) => levels[c], colours);
  const look = { size: 12, align: "right", theme };
  if (labelled) drawText(ctx, mark.label, x - 8, below + 10, theme.muted, look);
}

/** Lines at the right; their rows count from the middle of the first one. */
function paintTree(ctx, mark, { panel, rows, x, y, top, span }, layout, data, theme, { cell }) {
  const points = valuesOf(data, panel, mark.points, cell);
  const left = x + span + 18;
  const downOf = (row) => {
    const i = Math.floor(row);
    const next = rows.at[i + 1] ?? rows.at[i];
    return y + rows.at[i] + (row - i) * (next - rows.at[i]) + rows.pitch / 2;
  };
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (let i = 0; i < points.length; i += 4) {
    ctx.moveTo(left + points[i] * (mark.size - 24), downOf(points[i + 1]));
    ctx.lineTo(left + points[i + 2] * (mark.size - 24), downOf(points[i + 3]));
  }
  ctx.stroke();
  drawText(ctx, mark.title ?? "", left, y - top + 16, theme.muted, { theme, room: mark.size });
}
