// Several maps of query × key on one colour scale, the difference of two of them, and the
// divergence of their rows.

import { describeSigns, paintCells } from "../lib/cells.js";
import { paintColourBar } from "../lib/colour_bar.js";
import { drawText } from "../lib/text_drawing.js";
import { fitCanvas } from "../lib/fit_canvas.js";
import { paintColumnLabels, paintRowLabels } from "../lib/labels.js";
import { flatIndex } from "../lib/map_data.js";
import { paintFrame, paintHatch, paintRing } from "../lib/marks.js";
import { paintDifferenceHeading, paintPanelHeading } from "./headings.js";
import { paintDivergence, paintRow } from "./rows.js";
import { GUTTER } from "./sizes.js";

/**
 * The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables}
 */
export function paintPanels(ctx, data, layout, theme, state) {
  layout.boxes.forEach((box, i) => {
    const isGap = box.block === data.gap;
    (isGap ? paintDifferenceHeading : paintPanelHeading)(ctx, box, layout.wide, data, theme);
    paintMap(
      ctx,
      box,
      layout,
      data,
      theme,
      state,
      state.tables[isGap ? "signed" : data.scale.kind],
    );
    paintRow(ctx, box, layout, data, theme, state, i);
    if (isGap) paintDivergence(ctx, box, layout, data, theme, state);
  });
  paintScales(ctx, layout, data, theme, state);
}

function paintMap(ctx, box, layout, data, theme, state, colours) {
  const { rows, columns } = layout;
  const { query, key } = data.axes;
  const [q, k] = state.cell;
  const [hq, hk] = state.hover ?? [-1, -1];
  const x = box.x;
  const y = box.y + layout.top;
  const keys = key.label.length;
  if (box.labelled)
    paintRowLabels(ctx, rows, query, x, y, theme, {
      chosen: q,
      hover: hq,
      colour: theme.query,
      room: layout.own - 10,
    });
  paintColumnLabels(ctx, columns, key, x, y, theme, {
    chosen: k,
    hover: hk,
    colour: theme[data.across],
    room: 96,
    weights: columnStrengths(box.block, keys),
  });
  paintCachedCells(ctx, box, rows, columns, x, y, (r, c) => box.block.grid[r * keys + c], colours);
  paintGaps(ctx, box.block, rows, columns, x, y, theme);
  paintFrame(ctx, columns, k, y - 3, y + rows.size + 2, x, theme[data.across], true);
  paintFrame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  paintRing(ctx, rows, columns, q, k, x, y, theme);
}

/** The largest value of each column, by which labels give way where they do not all fit. */
function columnStrengths(block, keys) {
  if (block.strengths) return block.strengths;
  block.strengths = Array.from({ length: keys }, () => 0);
  block.exact.forEach((value, i) => {
    const k = i % keys;
    if (Math.abs(value) > block.strengths[k]) block.strengths[k] = Math.abs(value);
  });
  return block.strengths;
}

/**
 * What an input does not have is hatched; a difference that is no greater than between seeds is
 * grey.
 */
function paintGaps(ctx, block, rows, columns, x, y, theme) {
  const of = (r, c) => r * columns.at.length + c;
  if (block.exact.some(Number.isNaN))
    paintHatch(ctx, rows, columns, x, y, (r, c) => Number.isNaN(block.exact[of(r, c)]), theme);
  if (!block.within) return;
  ctx.fillStyle = theme.hairline;
  rows.at.forEach((top, r) =>
    columns.at.forEach((left, c) => {
      if (block.within[of(r, c)])
        ctx.fillRect(x + left, y + top, columns.pitch - columns.line, rows.pitch - rows.line);
    }),
  );
}

/**
 * The cells, painted once for a layout: a step of the crosshair only lays the picture down again.
 */
function paintCachedCells(ctx, box, rows, columns, x, y, level, colours) {
  if (!ctx.drawImage) return paintCells(ctx, rows, columns, x, y, level, colours);
  const density = ctx.getTransform().a; // a saved picture is sharper than the screen
  if (box.sheet?.density !== density) {
    box.sheet = { density, canvas: document.createElement("canvas") };
    paintCells(
      fitCanvas(box.sheet.canvas, Math.ceil(columns.size), Math.ceil(rows.size), density),
      rows,
      columns,
      0,
      0,
      level,
      colours,
    );
  }
  ctx.drawImage(box.sheet.canvas, x, y, Math.ceil(columns.size), Math.ceil(rows.size));
}

function paintScales(ctx, layout, data, theme, state) {
  const { x, y, room, stacked, under, gapX } = layout.scales;
  const wide = Math.min(layout.wide, 260, room);
  const pointer = data.gap?.exact[flatIndex(data, state.cell)];
  const signs =
    data.scale.kind === "signed"
      ? describeSigns(
          layout.rows,
          layout.columns,
          data.panels.flatMap((panel) => [...panel.exact]),
        )
      : "";
  paintColourBar(ctx, x, y, wide, data.scale, state.tables[data.scale.kind], theme, { signs });
  const left = stacked || under ? x : x + wide + GUTTER;
  const top = stacked || under ? y + 82 : y + 4; // below what a bar says of signs or steps
  const lines = under ? [data.lines.join(" ")] : data.lines;
  const fits = stacked || under ? room : (data.gap ? gapX : layout.width) - left - GUTTER;
  lines.forEach((line, i) =>
    drawText(ctx, line, left, top + 18 * i, theme.muted, { theme, room: fits }),
  );
  const below = top + 18 * data.lines.length + 22;
  if (data.gap)
    paintColourBar(
      ctx,
      stacked ? x : gapX,
      stacked ? below : y,
      wide,
      data.gap.scale,
      state.tables.signed,
      theme,
      { pointer, signs: describeSigns(layout.rows, layout.columns, data.gap.exact) },
    );
}
