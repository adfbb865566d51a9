// Where the maps stand.  Rows around the chosen one can be read, the others are thin.

import { clamp } from "../lib/arrays.js";
import { cellAt, layoutAxis } from "../lib/axis.js";
import { labelsLean, widestLabel } from "../lib/label_text.js";
import { FOCUS, GUTTER, HEAD, LEAST, OVERHANG, REST, SCALE, SIDE, TALL, WIDE } from "./sizes.js";

/**
 * Where everything stands for a given width: maps in lines, start and end at the right of the first
 * line.
 */
export function layoutMaps(ctx, data, width, theme) {
  const { query, key } = data.axes;
  const m = query.label.length;
  const n = key.label.length;
  const count = data.panels.length;
  const own = Math.round(clamp(widestLabel(ctx, query, theme), 88, data.folded ? 200 : 112)) + 14;
  const side = width < WIDE ? 128 : SIDE;
  let across = count;
  const room = () => (width - own - side - OVERHANG - (across - 1) * GUTTER) / across;
  while (across > 1 && room() < LEAST) across = Math.ceil(across / 2);
  const wide = Math.floor(Math.min(room(), 420));
  const columns = layoutAxis(
    { ...key, text: key.text.map(() => "") },
    clamp(wide / n, 0.3, Math.max(34, 180 / n)),
  );
  const readable = m <= 2 * FOCUS;
  const focus = readable ? m : FOCUS;
  const thin = readable ? TALL : clamp(REST / (m - focus), 0.2, 5);
  const lean = labelsLean(ctx, key, columns.pitch, theme)
    ? clamp(widestLabel(ctx, key, theme), 20, 96) * 0.71 + 20
    : 24;
  const high = focus * TALL + (m - focus) * thin + (readable ? 0 : 8);
  const above = HEAD + lean;
  const tall = above + high + SCALE;
  const boxes = data.panels.map((block, index) => ({
    block,
    index,
    x: own + (index % across) * (wide + GUTTER),
    y: Math.round(Math.floor(index / across) * (tall + 22) + above),
    labelled: index % across === 0,
  }));
  const lines = Math.ceil(count / across);
  const ends = own + across * (wide + GUTTER) - GUTTER + OVERHANG;
  const layout = {
    width,
    columns,
    wide,
    own,
    above,
    lean,
    boxes,
    across,
    rows: { m, focus, thin, high, first: null },
    side: { x: ends, y: boxes[0].y, width: Math.min(side, width - ends) },
    height: lines * (tall + 22) - 14,
  };
  return layout;
}

/** The rows as three stretches, of which the middle one holds row `q` and can be read. */
export function rowStretches({ rows }, q) {
  const { m, focus, thin } = rows;
  const last = m - focus;
  const { first } = rows;
  if (first === null || q < first - 2 || q > first + focus + 1)
    rows.first = clamp(q - Math.floor(focus / 2), 0, last);
  else if (q < first) rows.first = q;
  else if (q >= first + focus) rows.first = q - focus + 1;
  const sizes = [rows.first, focus, last - rows.first];
  const pitches = [thin, TALL, thin];
  let from = 0;
  let y = 0;
  rows.parts = sizes.map((size, i) => {
    const part = { from, y, size, lay: evenRows(size, pitches[i]) };
    from += size;
    y += part.lay.size + (i < 2 && focus < m && size ? 4 : 0);
    return part;
  });
  rows.end = y;
  return rows.parts;
}

const evenRows = (size, pitch) => ({
  at: Array.from({ length: size }, (_, i) => i * pitch),
  pitch,
  size: size * pitch,
  line: pitch >= 7 ? 1 : 0,
});

function rowAt({ rows }, y) {
  for (const { from, y: top, size, lay } of rows.parts ?? [])
    if (size && y >= top && y < top + lay.size)
      return from + Math.min(size - 1, Math.floor((y - top) / lay.pitch));
  return -1;
}

export const stretchOf = ({ rows }, q) =>
  rows.parts.find(({ from, size }) => q >= from && q < from + size);

/**
 * The cell under a point, or null.  Labels count as cells of the chosen row or column, start and
 * end as rows.
 */
export function hitCell(layout, cell, x, y) {
  const [q, k, panel] = cell;
  const { columns, side } = layout;
  for (const box of layout.boxes) {
    const dx = x - box.x;
    const dy = y - box.y;
    const r = rowAt(layout, dy);
    const c = cellAt(columns, dx);
    if (r >= 0 && c >= 0) return [r, c, box.index];
    if (r >= 0 && box.labelled && dx < 0 && dx > -layout.own) return [r, k, panel];
    if (c >= 0 && dy < 0 && dy > -layout.lean) return [q, c, box.index];
    if (dx >= 0 && dx < layout.wide && dy < -layout.lean && dy > -layout.above)
      return [q, k, box.index];
  }
  const r = rowAt(layout, y - side.y);
  return r >= 0 && x >= side.x && x < side.x + side.width ? [r, k, panel] : null;
}
