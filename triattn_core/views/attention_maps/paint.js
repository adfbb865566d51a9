// The maps of heads as they are drawn.

import { isMasked } from "./model.js";
import { paintSource } from "./paint_source.js";
import { GUTTER, STRIP } from "./sizes.js";
import { paintCells } from "../lib/cells.js";
import { paintColourBar } from "../lib/colour_bar.js";
import { drawText } from "../lib/text_drawing.js";
import { paintColumnLabels, paintRowLabels } from "../lib/labels.js";
import { flatIndex } from "../lib/map_data.js";
import { paintFrame, paintHatch, paintRing } from "../lib/marks.js";

/**
 * The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables}
 */
export function paintMaps(ctx, data, layout, theme, state) {
  const colours = state.tables[data.scale.kind];
  for (const box of layout.boxes) {
    paintHead(ctx, box, layout, data, theme, state);
    paintMap(ctx, box, layout, data, theme, state, colours);
  }
  if (layout.source) paintSource(ctx, layout, data, theme, state, colours);
  const { x, y } = layout.scales;
  const width = Math.min(300, layout.width - x);
  const chosen = data.panels[state.cell[2]];
  const value = isMasked(data, chosen, state.cell)
    ? null
    : chosen.exact[flatIndex(data, state.cell)];
  paintColourBar(ctx, x, y, width, data.scale, colours, theme, {
    mark: `${data.notes ? "even share" : "even, no mask"} 1/${data.axes.key.label.length}`,
    pointer: value,
  });
}

function paintHead(ctx, { block, x, y, top, index }, layout, data, theme, state) {
  const from = y - top;
  const chosen = index === state.cell[2] && data.panels.length > 1;
  const room = layout.columns.size + (layout.many ? GUTTER - 8 : 0);
  const wide = drawText(ctx, block.title, x, from + 16, theme.text, {
    size: 15,
    weight: 650,
    theme,
    room: Math.max(room, 100),
  });
  if (chosen) ctx.fillRect(x, from + 21, wide, 2);
  if (room - wide > 60)
    drawText(ctx, block.note, x + wide + 10, from + 16, theme.muted, {
      theme,
      room: room - wide - 10,
    });
  if (!layout.many)
    drawText(ctx, `${data.roles[1]} →`, x, from + 38, theme.key, { weight: 600, theme });
  if (!layout.many && !index)
    drawText(ctx, `${data.roles[0]} ↓`, x - 8, y - 8, theme.query, {
      weight: 600,
      align: "right",
      theme,
    });
}

function paintMap(ctx, box, layout, data, theme, state, colours) {
  const { rows, columns } = layout;
  const { query, key } = data.axes;
  const [q, k, panel] = state.cell;
  const [hq, hk] = state.hover ?? [-1, -1];
  const { block, x, y } = box;
  const own = panel === box.index;
  const n = key.label.length;
  if (box.labelled)
    paintRowLabels(ctx, rows, query, x, y, theme, {
      chosen: q,
      hover: hq,
      colour: theme.query,
      room: layout.own - 12,
    });
  if (box.named)
    paintColumnLabels(ctx, columns, key, x, y, theme, {
      chosen: k,
      hover: hk,
      colour: theme.key,
      room: 96,
    });
  paintCells(ctx, rows, columns, x, y, (r, c) => block.grid[r * n + c], colours);
  if (block.out) paintHatch(ctx, rows, columns, x, y, (r, c) => block.out[r * n + c], theme);
  ctx.globalAlpha = own ? 1 : 0.45;
  paintFrame(ctx, columns, k, y - 3, y + rows.size + 2, x, theme.key, true);
  paintFrame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  ctx.globalAlpha = 1;
  if (own) paintRing(ctx, rows, columns, q, k, x, y, theme);
  if (!layout.strip) return;
  const strip = { at: [0], pitch: STRIP, size: STRIP, line: 1 };
  const below = y + rows.size + 4;
  paintCells(ctx, strip, columns, x, below, (r, c) => block.strip[c], colours);
  if (box.labelled)
    drawText(ctx, "source", x - 8, below + 10, theme.muted, { size: 12, align: "right", theme });
}
