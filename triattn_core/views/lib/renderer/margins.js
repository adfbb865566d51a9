// Bars at the right of or below a slice, of numbers along one of its axes; and below the last axis
// which text its words are of.

import { sum } from "../arrays.js";
import { paintAxisBars } from "../bars.js";
import { font } from "../theme.js";
import { joinsCells, valueAt } from "./description.js";

const LONG = 400; // pixels of a slice that has room for what is said of all its bars

/** The axis along which a margin runs. */
const alongOf = ({ side }, { rows, columns }) => (side === "right" ? rows : columns);

/** The numbers of a margin for a cell; what is not finite counts as zero. */
function marginValues(data, panel, mark, cell) {
  const name = alongOf(mark, panel);
  const axis = data.axisOf[name];
  const { values, steps = [] } = panel.arrays[mark.values] ?? {};
  const step = steps.find(([one]) => one === axis)?.[1];
  const from = sum(steps.map(([one, by]) => (one === axis ? 0 : cell[one] * by)));
  return Array.from({ length: data.sizes[name] }, (_, i) => {
    const at = values ? null : cell.with(axis, i);
    const value = values ? values[from + i * step] : valueAt(data, panel, mark.values, at);
    return Number.isFinite(value) ? value : 0;
  });
}

export function paintMargin(ctx, mark, box, layout, data, theme, { cell }) {
  const { panel, rows, columns, x, y } = box;
  const down = mark.side === "below";
  const along = alongOf(mark, panel);
  const [right, foot] = [x + columns.size + 6, y + rows.size + 6];
  const place = down ? [columns, x, foot] : [rows, right, y];
  paintAxisBars(ctx, ...place, theme, {
    values: marginValues(data, panel, mark, cell),
    chosen: cell[data.axisOf[along]],
    colour: theme[along],
    down,
  });
  ctx.font = font(theme, 12);
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = down ? "right" : "left";
  ctx.fillText(mark.note, ...(down ? [x - 8, foot + 10] : [right + 2, y - 6]));
  if (!down) return;
  if (columns.size > LONG) ctx.fillText(panel.note ?? "", x + columns.size, y - 20);
  if (!joinsCells(data)) paintTextNames(ctx, data, along, columns, x, foot + 46, theme);
}

/** Under an axis: which text its words are of. */
function paintTextNames(ctx, data, axis, layout, x, y, theme) {
  const { text, groups } = data.axes[axis];
  ctx.textAlign = "center";
  ctx.font = font(theme, 12);
  for (const name of new Set(text.filter(Boolean))) {
    const from = x + layout.at[text.indexOf(name)];
    const to = x + layout.at[text.lastIndexOf(name)] + layout.pitch;
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(from, y, to - from - layout.line, 1);
    ctx.fillStyle = theme.muted;
    const fits = (words) => ctx.measureText(words).width < to - from + 4;
    const { long, short } = (groups ?? data.names)[name];
    if (fits(short)) ctx.fillText(fits(long) ? long : short, (from + to) / 2, y + 14);
  }
}
