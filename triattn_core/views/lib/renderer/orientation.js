// A small cube with the three cutting planes of slices.

import { fitText } from "../text_drawing.js";
import { font } from "../theme.js";

const LONGEST_NAME = 80; // pixels of an axis's name beside the small cube

const nameAxis = (ctx, { axes, sizes }, axis) =>
  `${fitText(ctx, axes[axis].title, LONGEST_NAME)} ${sizes[axis]}`;

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

/** Query down, key across, the third axis into the depth; nothing where there is no room. */
export function paintOrientation(ctx, { left, height, aside }, data, theme, cell) {
  const [query, key, third] = Object.keys(data.axes);
  ctx.font = font(theme, 12, 600);
  const [down, deep] = [query, third].map((axis) => nameAxis(ctx, data, axis));
  const wide = Math.max(...[down, deep].map((name) => ctx.measureText(name).width));
  const x = Math.max(58, 12 + wide); // names stand left of it
  const size = Math.min((left - x - 4) / 1.42, 140, height - aside - 170);
  if (size <= 40) return;
  const project = projection(x, aside + 14, size);
  const [q, k, c] = Object.values(data.axes).map(({ label }, a) => (cell[a] + 0.5) / label.length);
  paintPlanes(ctx, project, [q, k, c], third, theme);
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  for (const line of EDGES) {
    tracePath(ctx, project, line);
    ctx.stroke();
  }
  paintDot(ctx, project([k, q, c]), theme);
  ctx.font = font(theme, 12, 600);
  ctx.textBaseline = "alphabetic";
  const write = (axis, name, align, [at, top], dx, dy) => {
    ctx.fillStyle = theme[axis];
    ctx.textAlign = align;
    ctx.fillText(name, at + dx, top + dy);
  };
  write(key, nameAxis(ctx, data, key), "center", project([0.5, 1, 0]), 0, 16);
  write(third, deep, "right", project([0, 0, 0.5]), -6, -2);
  write(query, down, "right", project([0, q, 0]), -6, 4);
}
