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

/** The labels left of the rows: how much room they have, and whether each map repeats them. */
function layoutRowLabels(ctx, query, step, width, theme) {
  const letters = widestLabel(ctx, query, theme) * 1.08 + 14;
  const own = Math.min(
    letters + LINE_STEP * (countLabelLines(ctx, query, step, theme) - 1),
    Math.max(96, width * 0.08),
  );
  const repeats = letters <= 34;
  return { own, repeats, between: repeats ? own + 8 : GUTTER };
}

/** How many of n maps stand in a line, and how wide each one is. */
function layoutLine(n, keys, width, { own, between }, side) {
  // The divergence stands beside the difference: it takes room from the maps only where that ends a
  // full line; elsewhere the leaning labels of the last column need some.
  const room = (k) => (width - own - (n % k ? OVERHANG : side) - (k - 1) * between) / k;
  const finest = width < 1000 ? 3.8 : 5; // pixels a cell
  let across = n;
  while (across > 1 && (room(across) < NARROW || room(across) / keys < finest)) across--;
  return { across, wide: Math.min(room(across), 360) };
}

/** The room above a map that its column labels take. */
function columnLabelHeight(ctx, key, pitch, theme) {
  const line = labelsLean(ctx, key, pitch, theme)
    ? Math.min(widestLabel(ctx, key, theme), 96) * 0.71 + 22
    : 26;
  return line + LINE_STEP * (countLabelLines(ctx, key, pitch, theme) - 1);
}

/** The scales stand below the maps, or beside the last one where it is alone in its line. */
function placeScales({ width, own, wide, end, side, hasGap }, lines, last) {
  const free = last.x + wide + side + 2 * GUTTER;
  const beside = lines > 1 && width - free > 200;
  const scales = beside
    ? { x: free, y: last.y + 24, room: width - free, stacked: true }
    : { x: own, y: end + 16, room: width - own, stacked: false };
  scales.gapX = Math.max(last.x, own + wide + GUTTER);
  const between = (hasGap ? scales.gapX : width) - own - Math.min(wide, 260) - 2 * GUTTER;
  scales.under = !beside && between < 150;
  return { scales, height: beside ? end : end + SCALE + (scales.under ? 22 : 0) };
}

/** Where everything stands for a given width: blocks are the maps and, last, the difference. */
export function layoutPanels(ctx, data, width, theme) {
  const { query, key } = data.axes;
  const keys = key.label.length;
  const blocks = [...data.panels, ...(data.gap ? [data.gap] : [])];
  const n = blocks.length;
  const side = data.gap ? DIVERGENCE : 0;
  const step = clamp(312 / query.label.length, 7, 26);
  const labels = layoutRowLabels(ctx, query, step, width, theme);
  const { own } = labels;
  const { across, wide } = layoutLine(n, keys, width, labels, side);
  const rows = layoutAxis(query, step);
  const pitch = clamp((wide - GAP * countGaps(key)) / keys, 1, Math.max(64, 220 / keys));
  const columns = layoutAxis(key, pitch, GAP);
  const above = columnLabelHeight(ctx, key, columns.pitch, theme);
  const tall = HEAD + above + rows.size + ROW_BARS + 26;
  const lines = Math.ceil(n / across);
  const boxes = blocks.map((block, i) => ({
    block,
    x: Math.round(own + (i % across) * (wide + labels.between)),
    y: Math.round(Math.floor(i / across) * (tall + BETWEEN)),
    labelled: labels.repeats || i % across === 0,
  }));
  const end = lines * (tall + BETWEEN) - BETWEEN;
  const extent = { width, own, wide, end, side, hasGap: Boolean(data.gap) };
  return {
    width,
    wide,
    rows,
    columns,
    above,
    own,
    boxes,
    top: Math.round(HEAD + above),
    ...placeScales(extent, lines, boxes[n - 1]),
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
