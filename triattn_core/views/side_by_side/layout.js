// Where the maps, their difference and its divergence stand.

import { clamp } from "../lib/arrays.js";
import { cellAt, countGaps, layoutAxis } from "../lib/axis.js";
import { LINE_STEP, countLabelLines, labelsLean, widestLabel } from "../lib/label_text.js";
import {
  BETWEEN,
  DIVERGENCE,
  GAP,
  GUTTER,
  HEAD,
  NARROW,
  OVERHANG,
  ROW_BARS,
  SCALE,
} from "./sizes.js";

/** Where everything stands for a given width: blocks are the maps and, last, the difference. */
export function layoutPanels(ctx, data, width, theme) {
  const { query, key } = data.axes;
  const blocks = [...data.panels, ...(data.gap ? [data.gap] : [])];
  const step = clamp(312 / query.label.length, 7, 26);
  const letters = widestLabel(ctx, query, theme) * 1.08 + 14;
  const own = Math.min(
    letters + LINE_STEP * (countLabelLines(ctx, query, step, theme) - 1),
    Math.max(96, width * 0.08),
  );
  const repeats = letters <= 34;
  const side = data.gap ? DIVERGENCE : 0;
  const n = blocks.length;
  // The divergence stands beside the difference: it takes room from the maps only where that ends a
  // full line; elsewhere the leaning labels of the last column need some.
  const room = (k) =>
    (width - own - (n % k ? OVERHANG : side) - (k - 1) * (repeats ? own + 8 : GUTTER)) / k;
  const finest = width < 1000 ? 3.8 : 5; // pixels a cell
  let across = n;
  while (across > 1 && (room(across) < NARROW || room(across) / key.label.length < finest))
    across--;
  const wide = Math.min(room(across), 360);
  const rows = layoutAxis(query, step);
  const columns = layoutAxis(
    key,
    clamp(
      (wide - GAP * countGaps(key)) / key.label.length,
      1,
      Math.max(64, 220 / key.label.length),
    ),
    GAP,
  );
  const lean = labelsLean(ctx, key, columns.pitch, theme);
  const above =
    (lean ? Math.min(widestLabel(ctx, key, theme), 96) * 0.71 + 22 : 26) +
    LINE_STEP * (countLabelLines(ctx, key, columns.pitch, theme) - 1);
  const tall = HEAD + above + rows.size + ROW_BARS + 26;
  const lines = Math.ceil(n / across);
  const boxes = blocks.map((block, i) => ({
    block,
    x: Math.round(own + (i % across) * (wide + (repeats ? own + 8 : GUTTER))),
    y: Math.round(Math.floor(i / across) * (tall + BETWEEN)),
    labelled: repeats || i % across === 0,
  }));
  const end = lines * (tall + BETWEEN) - BETWEEN;
  const last = boxes[n - 1];
  // The scales stand below the maps, or beside the last one where it is alone in its line.
  const free = last.x + wide + side + 2 * GUTTER;
  const beside = lines > 1 && width - free > 200;
  const scales = beside
    ? { x: free, y: last.y + 24, room: width - free, stacked: true }
    : { x: own, y: end + 16, room: width - own, stacked: false };
  scales.gapX = Math.max(last.x, own + wide + GUTTER);
  const between = (data.gap ? scales.gapX : width) - own - Math.min(wide, 260) - 2 * GUTTER;
  scales.under = !beside && between < 150;
  return {
    width,
    wide,
    rows,
    columns,
    above,
    own,
    boxes,
    top: Math.round(HEAD + above),
    scales,
    height: beside ? end : end + SCALE + (scales.under ? 22 : 0),
  };
}

/**
 * The block and cell under a point, or null.  Above and beside a map its labels count as cells of
 * the chosen row.
 */
export function hitCell(layout, cell, x, y) {
  for (const box of layout.boxes) {
    const dx = x - box.x;
    const dy = y - box.y - layout.top;
    if (
      dx < -layout.own ||
      dx > layout.columns.size ||
      dy < -layout.above ||
      dy > layout.rows.size + ROW_BARS
    )
      continue;
    const q = cellAt(layout.rows, dy);
    const k = cellAt(layout.columns, dx);
    if (q >= 0 && k >= 0) return [q, k];
    if (q >= 0 && dx < 0 && box.labelled) return [q, cell[1]];
    if (k >= 0 && q < 0) return [cell[0], k];
  }
  return null;
}
