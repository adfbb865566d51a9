// The values of a map, each in the colour of its level on a scale.

import { paintCells } from "../lib/cells.js";
import { levelOnScale } from "../lib/scales.js";

/** value(row, column) on `scale`; colours: of its levels. */
export function paintValues(ctx, rows, columns, x, y, scale, value, colours) {
  const level = (r, c) => levelOnScale(scale, value(r, c));
  paintCells(ctx, rows, columns, x, y, level, colours);
}
