// Boxes in oblique projection: cells of a cube whose front comes forward by its weight.

import { clamp } from "../lib/arrays.js";
import { draw } from "../lib/elements.js";

const BACK = [22, -16]; // pixels from the front of a box to its back
const FORWARD = 0.85; // how far a weight of one comes forward, as a part of that

const corners = (...points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

const channels = (colour) => colour.match(/[\d.]+/g).map(Number);

/** A colour nearer to black (less than one) or to white. */
function shade(colour, by) {
  const end = by < 1 ? 0 : 255;
  const part = Math.abs(by - 1);
  return `rgb(${channels(colour)
    .map((c) => Math.round(c + (end - c) * part))
    .join(",")})`;
}

function luminance(colour) {
  const [r, g, b] = channels(colour).map((c) =>
    c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever is easier to read on a colour. */
const inkOn = (colour) => (luminance(colour) > 0.179 ? "#000000" : "#ffffff");

/** Where the front of a box stands: its corner, moved forward by its weight. */
export const frontOf = (box) => [
  box.x - FORWARD * BACK[0] * box.weight,
  box.y - FORWARD * BACK[1] * box.weight,
];

function faces(box, colour, line) {
  const [x, y] = frontOf(box);
  const { width, height } = box;
  const [tx, ty] = [box.x + BACK[0] * box.roof, box.y + BACK[1] * box.roof];
  const [bx, by] = [box.x + BACK[0] * box.side, box.y + BACK[1] * box.side];
  const common = { stroke: line, "stroke-width": 0.8, "stroke-linejoin": "round" };
  const roof = [
    [x, y],
    [tx, ty],
    [tx + width, ty],
    [x + width, y],
  ];
  const side = [
    [x + width, y],
    [bx + width, by],
    [bx + width, by + height],
    [x + width, y + height],
  ];
  const front = [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ];
  return [
    draw("polygon", { points: corners(...roof), fill: shade(colour, 1.16), ...common }),
    draw("polygon", { points: corners(...side), fill: shade(colour, 0.86), ...common }),
    draw("polygon", { points: corners(...front), fill: colour, ...common }),
  ];
}

/**
 * A box with its weight in per cent; `roof` and `side` are 1 where nothing stands above it or
 * beside it, 0 where a neighbour covers that face.
 */
export function drawBox(box, table, theme) {
  if (box.empty) {
    const { x, y, width, height } = box;
    const look = { fill: "none", stroke: theme.hairline, "stroke-dasharray": "2 3" };
    return draw("rect", { x, y, width, height, ...look });
  }
  const colour = table[Math.round(255 * clamp(box.weight, 0, 1))];
  const group = draw("g", {}, ...faces(box, colour, theme.dark ? "#3d4a50" : "#c6d3d3"));
  if (box.told || box.weight >= 0.015) {
    const [x, y] = frontOf(box);
    const at = { x: x + box.width / 2, y: y + box.height / 2 + 5, style: `fill: ${inkOn(colour)}` };
    const look = { "text-anchor": "middle", class: box.weight > 0.5 ? "share most" : "share" };
    group.append(draw("text", { ...at, ...look }, `${Math.round(100 * box.weight)} %`));
  }
  return group;
}

/** Boxes in the order in which they cover each other: what comes forward last. */
export const inOrder = (boxes) =>
  [...boxes].sort((a, b) => a.weight - b.weight || b.column - a.column || a.row - b.row);

/** A line that leaves and arrives level, or upright. */
export function thread([x1, y1], [x2, y2], upright = false) {
  const half = upright ? (y1 + y2) / 2 : (x1 + x2) / 2;
  return upright
    ? `M${x1},${y1} C${x1},${half} ${x2},${half} ${x2},${y2}`
    : `M${x1},${y1} C${half},${y1} ${half},${y2} ${x2},${y2}`;
}
