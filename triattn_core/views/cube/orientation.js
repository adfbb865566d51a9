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
      : `${folded ? "even share" : cube.payload.against ? "even, no mask" : "even"} 1/${formatCount(Math.round(1 / uniform))}`,
    pointer: value,
  });
}

const nameAxis = (ctx, cube, axis) =>
  `${fitText(ctx, cube.payload.roles[axis], LONGEST_NAME)} ${cube.sizes[AXIS[axis]]}`;

const widestName = (ctx, cube) =>
  Math.max(
    ...["query", cube.third].map((axis) => ctx.measureText(nameAxis(ctx, cube, axis)).width),
  );

/** The edges of the unit cube that are seen, as lines of [key, query, context]. */
const EDGES = [
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
];

/** From [key, query, context] of the unit cube to pixels. */
function projection(x, y, size) {
  const height = size * 0.66;
  const deep = [size * 0.42, -size * 0.26];
  const base = y - deep[1];
  return ([k, q, c]) => [x + k * size + c * deep[0], base + q * height + c * deep[1]];
}

/** A path through points of the unit cube. */
function tracePath(ctx, project, points) {
  ctx.beginPath();
  points.map(project).forEach((spot, i) => (i ? ctx.lineTo(...spot) : ctx.moveTo(...spot)));
}

/** The plane of each axis at its chosen place. */
function paintPlanes(ctx, project, [q, k, c], third, theme) {
  const planes = [
    [third, [0, 0, c], [1, 0, c], [1, 1, c], [0, 1, c]],
    ["key", [k, 0, 0], [k, 0, 1], [k, 1, 1], [k, 1, 0]],
    ["query", [0, q, 0], [1, q, 0], [1, q, 1], [0, q, 1]],
  ];
  for (const [axis, ...corners] of planes) {
    tracePath(ctx, project, corners);
    ctx.closePath();
    ctx.globalAlpha = 0.18;
    ctx.fillStyle = theme[axis];
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = theme[axis];
    ctx.lineWidth = 1.25;
    ctx.stroke();
  }
}

/** The chosen cell: a dot with a rim. */
function paintDot(ctx, [x, y], theme) {
  for (const [radius, colour] of [
    [4, theme.page],
    [2.75, theme.text],
  ]) {
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 7);
    ctx.fillStyle = colour;
    ctx.fill();
  }
}

/** A small cube with the three cutting planes: query down, key across, context into the depth. */
function paintOrientation(ctx, x, y, size, cube, state, theme) {
  const project = projection(x, y, size);
  const [q, k, c] = state.cell.map((i, a) => (i + 0.5) / cube.sizes[a]);
  paintPlanes(ctx, project, [q, k, c], cube.third, theme);
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  for (const line of EDGES) {
    tracePath(ctx, project, line);
    ctx.stroke();
  }
  paintDot(ctx, project([k, q, c]), theme);
  ctx.font = font(theme, 12, 600);
  ctx.textBaseline = "alphabetic";
  const write = (axis, align, [left, top], dx, dy) => {
    ctx.fillStyle = theme[axis];
    ctx.textAlign = align;
    ctx.fillText(nameAxis(ctx, cube, axis), left + dx, top + dy);
  };
  write("key", "center", project([0.5, 1, 0]), 0, 16);
  write(cube.third, "right", project([0, 0, 0.5]), -6, -2);
  write("query", "right", project([0, q, 0]), -6, 4);
}
