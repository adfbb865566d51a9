// Quadrangles of corners [x, y] in pixels: upper left, upper right, lower right, lower left.

export const SLACK = 3; // pixels that edges may be off

export const rectangle = ({ left, top, right, bottom }) => [
  [left, top],
  [right, top],
  [right, bottom],
  [left, bottom],
];

/** The corners of a rectangle that a matrix moves. */
export const transformedRectangle = (matrix, x, y, width, height) =>
  rectangle({ left: x, top: y, right: x + width, bottom: y + height }).map((corner) =>
    transformPoint(matrix, corner),
  );

export function transformPoint(matrix, [x, y]) {
  const point = matrix.transformPoint({ x, y });
  return [point.x, point.y];
}

export function bounds(quad) {
  const xs = quad.map(([x]) => x);
  const ys = quad.map(([, y]) => y);
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
  };
}

/** By how many pixels two convex quadrangles overlap: along the axis on which they do so least. */
export function overlap(first, second) {
  const axes = [first, second].flatMap((quad) => [0, 1].map((i) => [quad[i], quad[i + 1]]));
  return Math.min(...axes.map((axis) => overlapAlong(axis, first, second)));
}

function overlapAlong([[ax, ay], [bx, by]], first, second) {
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const along = ([x, y]) => ((bx - ax) * x + (by - ay) * y) / length;
  const [a, b] = [first.map(along), second.map(along)];
  return Math.min(Math.max(...a), Math.max(...b)) - Math.max(Math.min(...a), Math.min(...b));
}

/** Whether a text runs up or down. */
export const isOnItsSide = ([[ax, ay], [bx, by]]) => Math.abs(by - ay) > Math.abs(bx - ax);
