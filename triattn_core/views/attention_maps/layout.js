// Where the maps stand: in lines, then source2token on the rows of the tokens.

import { BARS, CAPTION, GUTTER, HEAD, OVERHANG, SCALE, STRIP, WIDE } from "./sizes.js";
import { clamp } from "../lib/arrays.js";
import { cellAt, layoutAxis } from "../lib/axis.js";
import { labelsLean, widestLabel } from "../lib/label_text.js";

/**
 * Where everything stands for a given width: maps in lines, then source2token on the rows of the
 * tokens.
 */
export function layoutMaps(ctx, data, width, theme) {
  const { query, key } = data.axes;
  const n = key.label.length;
  const count = data.panels.length;
  const many = !data.wide && !data.large;
  const own = clamp(widestLabel(ctx, query, theme), many ? 40 : 72, 110) + 14;
  const stacked = !many && width < WIDE;
  const beside =
    !data.wide || stacked ? OVERHANG : own + BARS + clamp(width * 0.3, 200, 460) + GUTTER;
  let across = many ? Math.min(count, width < WIDE ? 2 : count < 7 ? 6 : 4) : Math.min(count, 3);
  const room = () => (width - own - beside - (across - 1) * GUTTER) / across;
  while (across > 1 && room() < 120) across--;
  const pitch = clamp(room() / n, 1, many ? 30 : Math.max(30, 200 / n));
  const tall = many ? 190 : data.large ? 460 : 280;
  const step = clamp(tall / query.label.length, data.wide ? 5 : 2, many ? 16 : 25);
  const columns = layoutAxis(key, pitch);
  const rows = layoutAxis(query, step);
  const lean = labelsLean(ctx, key, pitch, theme)
    ? clamp(widestLabel(ctx, key, theme), 20, 96) * 0.71 + 20
    : 26;
  const strip = many && data.panels[0].strip ? STRIP + 4 : 0;
  const above = HEAD + lean + (many ? 0 : CAPTION);
  const short = HEAD - 14; // further lines of a grid repeat no labels
  const boxes = data.panels.map((block, i) => {
    const line = Math.floor(i / across);
    const top = line && many ? short : above;
    return {
      block,
      index: i,
      x: Math.round(own + (i % across) * (columns.size + GUTTER)),
      y: Math.round(above + line * (rows.size + strip + 22 + (many ? short : above))),
      top,
      labelled: i % across === 0,
      named: !line || !many,
    };
  });
  const end = boxes[count - 1].y + rows.size + strip;
  const layout = { width, rows, columns, own, above, boxes, strip, many, lean };
  if (data.wide) layout.source = placeSource(layout, data, { width, stacked, end, beside });
  const foot = Math.max(end, layout.source ? layout.source.y + rows.size : 0) + 26;
  return { ...layout, scales: { x: own, y: foot + 12 }, height: foot + SCALE + 14 };
}

function placeSource({ boxes, columns, own, above }, data, { width, stacked, end }) {
  const left = stacked ? 0 : boxes.at(-1).x + columns.size + GUTTER;
  const y = stacked ? end + 92 : boxes[0].y;
  const bars = left + own;
  const x = bars + BARS;
  return {
    left,
    bars,
    x,
    y,
    top: y - (stacked ? 58 : above - 16),
    cells: layoutAxis(featureTokens(data.panels[0]), clamp((width - x - 4) / data.wide, 0.5, 9)),
  };
}

export const featureTokens = ({ order }) => ({
  label: order.map((f) => String(f + 1)),
  text: order.map(() => ""),
  special: [],
  joined: [],
  flat: true,
});

/**
 * The cell under a point, or null.  Beside a map its labels count as cells of the chosen row or
 * column.
 */
export function hitCell(layout, cell, x, y) {
  const [q, k, panel, f] = cell;
  const { rows, columns, source } = layout;
  for (const box of layout.boxes) {
    const dx = x - box.x;
    const dy = y - box.y;
    const r = cellAt(rows, dy);
    const c = cellAt(columns, dx);
    if (r >= 0 && c >= 0) return [r, c, box.index, f];
    if (r >= 0 && box.labelled && dx < 0 && dx > -layout.own) return [r, k, panel, f];
    if (c >= 0 && box.named && dy < 0 && dy > -layout.lean) return [q, c, box.index, f];
  }
  if (!source) return null;
  const r = cellAt(rows, y - source.y);
  const c = cellAt(source.cells, x - source.x);
  if (r >= 0 && x >= source.left && x < source.x) return [q, r, panel, f];
  return r >= 0 && c >= 0 ? [q, r, panel, c] : null;
}
