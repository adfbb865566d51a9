// The title of a slice: its axes, and the place on the third one where it is cut.

import { clamp } from "../arrays.js";
import { drawText, fitText } from "../text_drawing.js";
import { font } from "../theme.js";

const LONGEST_NAME = 96; // pixels of an axis's name in a title
const LONGEST_WORD = 140;
const CHIP = 6; // pixels at both sides of the chosen word

/** What the axes are called in titles, shortened where a name is long. */
function axisTitles(ctx, { axes }, theme) {
  ctx.font = font(theme, 14, 650);
  return Object.entries(axes).map(([name, { title }]) => [name, fitText(ctx, title, LONGEST_NAME)]);
}

/** How wide the title of the first slice is, with the chosen word after it. */
export function sliceTitleWidth(ctx, data, theme) {
  const [query, key, third] = axisTitles(ctx, data, theme).map(([, title]) => title);
  ctx.font = font(theme, 14, 600);
  return ctx.measureText(`${query} × ${key} at ${third} `).width + 76;
}

/** `focused`: whether keys move in this slice, which a line under its name says. */
export function paintSliceTitle(ctx, { panel, x: left, y, named }, data, width, theme, state) {
  const titles = Object.fromEntries(axisTitles(ctx, data, theme));
  const sides = [panel.rows, panel.columns];
  const [depth] = Object.keys(data.axes).filter((name) => !sides.includes(name));
  const [row, column] = sides.map((name) => titles[name]);
  const chosen = data.axes[depth].name[state.cell[data.axisOf[depth]]];
  const lead = ctx.measureText(`${row} × ${column}  at ${titles[depth]} `).width + 2 * CHIP;
  // Left of the lower panel is room for a title that the page is too narrow for.
  const over = left + lead + Math.min(ctx.measureText(chosen).width, LONGEST_WORD) - width;
  const start = named ? left : left - clamp(over, 0, 90);
  const top = named ? 14 : y - 24;
  let x = start;
  const write = (text, colour, weight, room) =>
    (x += drawText(ctx, text, x, top, colour, { size: 14, weight, theme, room }));
  write(row, theme[sides[0]], 650);
  write(" × ", theme.muted, 400);
  write(column, theme[sides[1]], 650);
  if (state.focus && data.panels[state.panel] === panel) {
    ctx.fillStyle = theme.text;
    ctx.fillRect(start, top + 5, x - start, 1.5);
  }
  write(`  at ${titles[depth]} `, theme.muted, 400);
  ctx.font = font(theme, 14, 650);
  const isFirst = panel === data.panels[0]; // beside another
  const limit = isFirst ? 72 : clamp(width - x - 2 * CHIP, 16, LONGEST_WORD);
  const word = fitText(ctx, chosen, limit);
  const wide = ctx.measureText(word).width + 2 * CHIP;
  ctx.fillStyle = theme[depth + "_mark"];
  ctx.fillRect(x, top - 15, wide, 20);
  ctx.fillStyle = theme[depth];
  ctx.fillRect(x, top + 5, wide, 2);
  x += CHIP;
  write(word, theme.text, 650);
}
