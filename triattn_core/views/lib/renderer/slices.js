// Three slices through one cell of three axes in third-angle layout: the first two share their
// rows, the last two their columns, so one crosshair reads straight across.

import { clamp } from "../arrays.js";
import { cellAt, countGaps, layoutAxis } from "../axis.js";
import { columnLabelHeight, lineHeight, spokenLabel, widestLabel } from "../labels.js";
import { formatNumber } from "../numbers.js";
import { isKnown, joinsCells, valueAt } from "./description.js";
import { sliceTitleWidth } from "./slice_titles.js";

const LABEL_ROOM = 112; // pixels of the longest label of a row
const LEANING = { most: LABEL_ROOM, free: 16 };
const BAR_ROOM = 74; // of the sums beside a slice
const LEGEND = 78; // of the colour bar at the foot

/** From where the second column of slices stands, and how wide a cell is in either. */
function layoutColumns(ctx, data, theme, width) {
  const [query, key, third] = Object.values(data.axes);
  const [K, C] = [key, third].map(({ label }) => label.length);
  const labelQ = clamp(widestLabel(ctx, query, theme), 30, LABEL_ROOM) + 12;
  const labelK = clamp(widestLabel(ctx, key, theme), 30, LABEL_ROOM) + 14;
  const breaks = countGaps(key) + countGaps(third);
  const gap = K + C > 90 && breaks > 2 ? 3 : 6; // labels at the two sides of a few stand apart
  const between = Math.max(BAR_ROOM, labelK);
  let pitch = clamp((width - labelQ - between - BAR_ROOM - gap * breaks) / (K + C), 2.5, 36);
  // Beside many features keys would be too narrow to be told apart.
  const keyWidth =
    K * ("feature" in data.axes ? clamp((0.28 * width) / K, pitch, 18) : pitch) +
    gap * countGaps(key);
  const title = sliceTitleWidth(ctx, data, theme);
  const right = labelQ + Math.max(keyWidth + between, title + 16, 250 - labelQ);
  const room = width - right - BAR_ROOM - gap * countGaps(third);
  pitch = Math.min(pitch, room / C);
  // Few keys, and turns or sentences, take what room there is.
  const keyPitch = clamp((right - labelQ - between - gap * countGaps(key)) / K, pitch, 36);
  const thirdPitch = joinsCells(data) ? clamp(room / C, pitch, 64) : pitch;
  return { labelQ, labelK, gap, right, pitch, keyPitch, thirdPitch };
}

/** Where everything stands for a given width. */
export function layoutSlices(ctx, data, width, theme) {
  const [query, key, third] = Object.values(data.axes);
  const { labelQ, labelK, gap, right, pitch, keyPitch, thirdPitch } = layoutColumns(
    ctx,
    data,
    theme,
    width,
  );
  const high = (tokens, wide) => columnLabelHeight(ctx, tokens, wide, theme, LEANING);
  const top = 26 + Math.max(high(key, keyPitch), high(third, thirdPitch));
  const count = query.label.length + key.label.length;
  const fit = clamp((560 - top - 52 - 70) / count, 3.2, 32);
  const line = lineHeight();
  const step = fit > 0.88 * line ? Math.max(fit, line) : fit;
  const across = [layoutAxis(key, keyPitch, gap), layoutAxis(third, thirdPitch, gap)];
  const down = [layoutAxis(query, step, gap), layoutAxis(key, step, gap)];
  const lower = top + down[0].size + 44;
  const height = Math.max(lower + down[1].size + 72, top + down[0].size + 290);
  const boxes = data.panels.map((panel, i) => ({
    panel,
    rows: down[i === 2 ? 1 : 0],
    columns: across[i ? 1 : 0],
    x: i ? right : labelQ,
    y: i === 2 ? lower : top,
    top: i === 2 ? 38 : top,
    labelled: i !== 1,
    named: i !== 2,
  }));
  const left = right - labelK - 16; // pixels of what stands below the first slice
  const x = Math.min(24, left * 0.1);
  const wide = Math.min(left - x - 8, 220);
  return {
    ...{ width, height, boxes, left, room: LABEL_ROOM },
    own: labelQ,
    aside: top + down[0].size + 14,
    thin: Math.min(pitch, step) < 15.5,
    bars: [{ name: Object.keys(data.scales)[0], x, y: height - LEGEND, wide }],
    words: { x: 0, y: 0, room: width },
  };
}

/**
 * The cell under a point, or null.  Its `spot` names the panel, and the row, the column or both;
 * labels and bars count as part of the row or column they name.
 */
export function hitSlice(data, layout, cell, x, y) {
  for (const [i, { panel, rows, columns, ...box }] of layout.boxes.entries()) {
    const r = cellAt(rows, y - box.y);
    const c = cellAt(columns, x - box.x);
    const before = box.labelled ? layout.own : 4;
    const besideRow = x > box.x - before && x < box.x + columns.size + 56;
    const [above, below] = box.named ? [60, 4] : [4, 44];
    const overColumn = y > box.y - above && y < box.y + rows.size + below;
    const isRow = r >= 0 && (c >= 0 || besideRow);
    const isColumn = c >= 0 && (r >= 0 || overColumn);
    if (!isRow && !isColumn) continue;
    const next = [...cell];
    if (isRow) next[data.axisOf[panel.rows]] = r;
    if (isColumn) next[data.axisOf[panel.columns]] = c;
    return Object.assign(next, { spot: { panel: i, row: isRow, column: isColumn } });
  }
  return null;
}

/** The next cell for a key in a panel and through its depth, or null where the key is not ours. */
export function cellInSlice(data, cell, panel, key) {
  const { rows, columns } = data.panels[panel];
  const depth = depthOf(data, panel);
  const [axis, by] =
    {
      ArrowUp: [rows, -1],
      ArrowDown: [rows, 1],
      ArrowLeft: [columns, -1],
      ArrowRight: [columns, 1],
      "[": [depth, -1],
      "]": [depth, 1],
    }[key] ?? [];
  return axis ? cell.with(data.axisOf[axis], cell[data.axisOf[axis]] + by) : null;
}

/** The axis that a panel is cut across. */
const depthOf = ({ axes, panels }, panel) =>
  Object.keys(axes).find((name) => name !== panels[panel].rows && name !== panels[panel].columns);

/** At the pointer: a cell with its value; of a row or column its word and its place. */
export function describeSlice(data, cell) {
  const { axes, axisOf, panels, inspector } = data;
  const { panel, row, column } = cell.spot;
  if (row && column) {
    const words = Object.values(axes).map(({ name }, a) => name[cell[a]]);
    const value = formatNumber(valueAt(data, panels[0], inspector.quantity, cell));
    return [`${words.join(" × ")}   ${isKnown(data, cell) ? "" : "≈ "}${value}`];
  }
  const axis = row ? panels[panel].rows : panels[panel].columns;
  const i = cell[axisOf[axis]];
  return [`${spokenLabel(axes[axis], i)}   ${axes[axis].where[i]}`];
}
