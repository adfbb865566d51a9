// Where the cube's three slices stand, and which cell is under a point.

import { isFolded } from "./model.js";
import { axisTitles } from "./titles.js";
import { clamp } from "../lib/arrays.js";
import { cellAt, countGaps, layoutAxis } from "../lib/axis.js";
import { columnLabelHeight } from "../lib/label_room.js";
import { LABEL_PITCH, widestLabel } from "../lib/label_text.js";
import { font } from "../lib/theme.js";

const LABEL_ROOM = 112; // pixels of the longest label of a row
const LEANING = { most: LABEL_ROOM, free: 16 };
const BAR_ROOM = 74; // of the sums beside a slice

/** From where the second column of slices stands, and how wide a cell is in either. */
function layoutColumns(ctx, cube, theme, width) {
  const [query, key, context] = cube.axes;
  const [, K, C] = cube.sizes;
  const labelQ = clamp(widestLabel(ctx, query, theme), 30, LABEL_ROOM) + 12;
  const labelK = clamp(widestLabel(ctx, key, theme), 30, LABEL_ROOM) + 14;
  const breaks = countGaps(key) + countGaps(context);
  const gap = K + C > 90 && breaks > 2 ? 3 : 6; // labels at the two sides of a few stand apart
  const between = Math.max(BAR_ROOM, labelK);
  let pitch = clamp((width - labelQ - between - BAR_ROOM - gap * breaks) / (K + C), 2.5, 36);
  // Beside many features keys would be too narrow to be told apart.
  const keyWidth =
    K * (cube.third === "feature" ? clamp((0.28 * width) / K, pitch, 18) : pitch) +
    gap * countGaps(key);
  const title = titleWidth(ctx, cube, theme);
  const right = labelQ + Math.max(keyWidth + between, title + 16, 250 - labelQ);
  pitch = Math.min(pitch, (width - right - BAR_ROOM - gap * countGaps(context)) / C);
  // Few keys, and turns or sentences, take what room there is.
  const keyPitch = clamp((right - labelQ - between - gap * countGaps(key)) / K, pitch, 36);
  const contextPitch = isFolded(cube)
    ? clamp((width - right - BAR_ROOM - gap * countGaps(context)) / C, pitch, 64)
    : pitch;
  return { labelQ, labelK, gap, right, pitch, keyPitch, contextPitch };
}

/** The title of the first slice, with the chosen word after it. */
function titleWidth(ctx, cube, theme) {
  ctx.font = font(theme, 14, 600);
  const titles = axisTitles(ctx, cube);
  const words = `${titles.query} × ${titles.key} at ${titles[cube.third]} `;
  return ctx.measureText(words).width + 76;
}

/** Where everything stands for a given width. */
export function layoutCube(ctx, cube, theme, width) {
  const [query, key, context] = cube.axes;
  const [Q, K] = cube.sizes;
  const columns = layoutColumns(ctx, cube, theme, width);
  const { labelQ, labelK, gap, right, pitch, keyPitch, contextPitch } = columns;
  const high = (tokens, wide) => columnLabelHeight(ctx, tokens, wide, theme, LEANING);
  const top = 26 + Math.max(high(key, keyPitch), high(context, contextPitch));
  const fit = clamp((560 - top - 52 - 70) / (Q + K), 3.2, 32);
  const step = fit > 0.88 * LABEL_PITCH ? Math.max(fit, LABEL_PITCH) : fit;
  const cols = {
    key: layoutAxis(key, keyPitch, gap),
    third: layoutAxis(context, contextPitch, gap),
  };
  const rows = { query: layoutAxis(query, step, gap), key: layoutAxis(key, step, gap) };
  const lower = top + rows.query.size + 44;
  const boxes = {
    qk: { x: labelQ, y: top, rows: rows.query, cols: cols.key },
    qc: { x: right, y: top, rows: rows.query, cols: cols.third },
    kc: { x: right, y: lower, rows: rows.key, cols: cols.third },
  };
  return {
    width,
    height: Math.max(lower + rows.key.size + 72, top + rows.query.size + 290),
    boxes,
    labelQ,
    room: LABEL_ROOM,
    thin: Math.min(pitch, step) < 15.5,
    left: right - labelK - 16,
    aside: top + rows.query.size + 14,
  };
}

/** The panel and cell under a point; labels count as part of the row or column they name. */
export function hitPanel(place, x, y) {
  for (const [name, box] of Object.entries(place.boxes)) {
    const r = cellAt(box.rows, y - box.y);
    const c = cellAt(box.cols, x - box.x);
    const besideRow =
      x > box.x - (name === "qc" ? 4 : place.labelQ) && x < box.x + box.cols.size + 56;
    const overColumn =
      y > box.y - (name === "kc" ? 4 : 60) && y < box.y + box.rows.size + (name === "kc" ? 44 : 4);
    if (r >= 0 && c >= 0) return { name, r, c };
    if (r >= 0 && besideRow) return { name, r };
    if (c >= 0 && overColumn) return { name, c };
  }
  return null;
}
