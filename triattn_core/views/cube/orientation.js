// Beside the slices: the colour bar, and a small cube with its three cutting planes.

import { AXIS, isFolded, numbersAt } from "./model.js";
import { paintColourBar } from "../lib/colour_bar.js";
import { formatCount, formatNumber } from "../lib/numbers.js";
import { fitText } from "../lib/text_drawing.js";
import { font } from "../lib/theme.js";

const LONGEST_NAME = 80; // pixels of an axis's name beside the small cube

export function paintLegend(ctx, cube, place, state, theme, colours) {
  const { left, height, aside } = place;
  const { scale, quantity, uniform } = cube.payload;
  const folded = isFolded(cube);
  const x = Math.min(24, left * 0.1);
  ctx.font = font(theme, 12, 600);
  const nameRoom = Math.max(58, 12 + widestName(ctx, cube)); // names stand left of the small cube
  const size = Math.min((left - nameRoom - 4) / 1.42, 140, height - aside - 170);
  if (size > 40) paintOrientation(ctx, nameRoom, aside + 14, size, cube, state, theme);
  const value = numbersAt(cube, state.cell)[quantity];
  paintColourBar(ctx, x, height - 78, Math.min(left - x - 8, 220), scale, colours, theme, {
    mark: cube.payload.unnormalised
      ? `mean ${formatNumber(uniform)}`
      : `${folded ? "even share" : cube.payload.against ? "even, no mask" : "uniform"} 1/${formatCount(Math.round(1 / uniform))}`,
    pointer: value,
  });
}

const nameAxis = (ctx, cube, axis) =>
  `${fitText(ctx, cube.payload.roles[axis], LONGEST_NAME)} ${cube.sizes[AXIS[axis]]}`;

const widestName = (ctx, cube) =>
  Math.max(
    ...["query", cube.third].map((axis) => ctx.measureText(nameAxis(ctx, cube, axis)).width),
  );

/** A small cube with the three cutting planes: query down, key across, context into the depth. */
function paintOrientation(ctx, x, y, size, cube, state, theme) {
  const height = size * 0.66;
  const deep = [size * 0.42, -size * 0.26];
  const base = y - deep[1];
  const share = state.cell.map((i, a) => (i + 0.5) / cube.sizes[a]);
  const point = (k, q, c) => [x + k * size + c * deep[0], base + q * height + c * deep[1]];
  const trace = (...points) => {
    ctx.beginPath();
    points.forEach((p, i) => (i ? ctx.lineTo(...point(...p)) : ctx.moveTo(...point(...p))));
  };
  const [q, k, c] = share;
  const planes = [
    [cube.third, [0, 0, c], [1, 0, c], [1, 1, c], [0, 1, c]],
    ["key", [k, 0, 0], [k, 0, 1], [k, 1, 1], [k, 1, 0]],
    ["query", [0, q, 0], [1, q, 0], [1, q, 1], [0, q, 1]],
  ];
  for (const [axis, ...corners] of planes) {
    trace(...corners);
    ctx.closePath();
    ctx.globalAlpha = 0.18;
    ctx.fillStyle = theme[axis];
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = theme[axis];
    ctx.lineWidth = 1.25;
    ctx.stroke();
  }
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  for (const line of [
    [
      [0, 0, 0],
      [1, 0, 0],
      [1, 1, 0],
      [0, 1, 0],
      [0, 0, 0],
      [0, 0, 1],
      [1, 0, 1],
      [1, 1, 1],
      [1, 1, 0],
    ],
    [
      [1, 0, 0],
      [1, 0, 1],
    ],
  ]) {
    trace(...line);
    ctx.stroke();
  }
  const [px, py] = point(k, q, c);
  ctx.beginPath();
  ctx.arc(px, py, 4, 0, 7);
  ctx.fillStyle = theme.page;
  ctx.fill();
  ctx.beginPath();
  ctx.arc(px, py, 2.75, 0, 7);
  ctx.fillStyle = theme.text;
  ctx.fill();
  ctx.font = font(theme, 12, 600);
  ctx.textBaseline = "alphabetic";
  const write = (axis, align, at, dx, dy) => {
    ctx.fillStyle = theme[axis];
    ctx.textAlign = align;
    ctx.fillText(nameAxis(ctx, cube, axis), at[0] + dx, at[1] + dy);
  };
  write("key", "center", point(0.5, 1, 0), 0, 16);
  write(cube.third, "right", point(0, 0, 0.5), -6, -2);
  write("query", "right", point(0, q, 0), -6, 4);
}
