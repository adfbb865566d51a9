// The title of a slice: its axes, and the cell of the third one that it is cut at.

import { AXIS } from "./model.js";
import { clamp } from "../lib/arrays.js";
import { fitText } from "../lib/text_drawing.js";
import { font } from "../lib/theme.js";

const LONGEST_NAME = 96; // pixels of an axis's name in a title

/** What the axes are called in titles, shortened where a name is long. */
export function axisTitles(ctx, cube) {
  const { roles } = cube.payload;
  return Object.fromEntries(
    Object.keys(roles).map((axis) => [axis, fitText(ctx, roles[axis], LONGEST_NAME)]),
  );
}

export function paintTitle(ctx, cube, name, box, state, theme, width) {
  const [row, col, depth] = cube.panels[name];
  const y = name === "kc" ? box.y - 24 : 14;
  ctx.font = font(theme, 14, 650);
  const chosen = cube.axes[AXIS[depth]].name[state.cell[AXIS[depth]]];
  const called = axisTitles(ctx, cube);
  const lead = ctx.measureText(`${called[row]} × ${called[col]}  at ${called[depth]} `).width + 12;
  // Left of the lower panel is room for a title that the page is too narrow for.
  const over = box.x + lead + Math.min(ctx.measureText(chosen).width, 140) - width;
  const start = name === "kc" ? box.x - clamp(over, 0, 90) : box.x;
  let x = start;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const write = (text, colour, weight) => {
    ctx.font = font(theme, 14, weight);
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
    x += ctx.measureText(text).width;
  };
  write(called[row], theme[row], 650);
  write(" × ", theme.muted, 400);
  write(called[col], theme[col], 650);
  if (state.focus && state.panel === name) {
    ctx.fillStyle = theme.text;
    ctx.fillRect(start, y + 5, x - start, 1.5);
  }
  write(`  at ${called[depth]} `, theme.muted, 400);
  ctx.font = font(theme, 14, 650);
  const limit = name === "qk" ? 72 : clamp(width - x - 12, 16, 140);
  const word = fitText(ctx, chosen, limit);
  const wide = ctx.measureText(word).width + 12;
  ctx.fillStyle = theme[depth + "_mark"];
  ctx.fillRect(x, y - 15, wide, 20);
  ctx.fillStyle = theme[depth];
  ctx.fillRect(x, y + 5, wide, 2);
  x += 6;
  write(word, theme.text, 650);
}
