// Maps of passage × question words of several similarity functions.

import { paintCells } from "../lib/cells.js";
import { paintColourBar } from "../lib/colour_bar.js";
import { drawText } from "../lib/text_drawing.js";
import { paintColumnLabels } from "../lib/labels.js";
import { paintFrame, paintRing } from "../lib/marks.js";
import { formatProbability } from "../lib/numbers.js";
import { paintAnswerBars } from "./answer_bars.js";
import { paintLabels } from "./labels.js";
import { rowStretches, stretchOf } from "./layout.js";
import { passageCut, valueAt } from "./model.js";

/**
 * The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables}
 */
export function paintMaps(ctx, data, layout, theme, state) {
  const parts = rowStretches(layout, state.cell[0]);
  for (const box of layout.boxes) {
    paintHead(ctx, box, layout, data, theme, state);
    if (box.labelled) paintLabels(ctx, box, layout, data, theme, state, parts);
    paintMap(ctx, box, layout, data, theme, state, parts);
  }
  paintAnswerBars(ctx, layout, data, theme, state, parts);
}

function paintHead(ctx, { block, x, y, index }, layout, data, theme, state) {
  const top = y - layout.above;
  const { wide } = layout;
  const chosen = index === state.cell[2];
  const [best, next] = block.spans;
  const many = data.panels.length > 1;
  ctx.fillStyle = chosen && many ? theme.text : theme.hairline;
  ctx.fillRect(x, top, wide, chosen && many ? 2 : 1);
  const right = (words, down, look = {}) =>
    drawText(ctx, words, x + wide, top + down, look.colour ?? theme.muted, {
      align: "right",
      theme,
      ...look,
    });
  const share = right(best ? formatProbability(best[2]) : "", 21, { colour: theme.text });
  drawText(ctx, block.title, x, top + 21, theme.text, {
    size: 15,
    weight: 650,
    theme,
    room: wide - share - 8,
  });
  const verdict =
    block.right === null
      ? 0
      : right(
          block.right ? "right" : "wrong",
          40,
          block.right ? { weight: 650, colour: theme.text } : {},
        );
  drawText(
    ctx,
    best ? passageCut(data, best) : "",
    x,
    top + 40,
    chosen ? theme.text : theme.muted,
    {
      size: 14,
      weight: chosen ? 650 : 400,
      theme,
      room: wide - verdict - 8,
    },
  );
  const also = right(next ? formatProbability(next[2]) : "", 58);
  const elsewhere = block.elsewhere
    ? `in part ${block.elsewhere}`
    : next
      ? `next ${passageCut(data, next)}`
      : "";
  drawText(ctx, elsewhere, x, top + 58, theme.muted, { theme, room: wide - also - 8 });
}

function paintMap(ctx, { block, x, y, index }, layout, data, theme, state, parts) {
  const { columns } = layout;
  const { key } = data.axes;
  const [q, k, panel] = state.cell;
  const hover = state.hover?.[1] ?? -1;
  const n = key.label.length;
  const own = panel === index;
  paintColumnLabels(ctx, columns, { ...key, text: key.text.map(() => "") }, x, y, theme, {
    chosen: k,
    hover,
    colour: theme.key,
    room: 96,
  });
  const colours = state.tables[block.scale.kind];
  for (const { from, y: top, size, lay } of parts)
    if (size)
      paintCells(ctx, lay, columns, x, y + top, (r, c) => block.grid[(from + r) * n + c], colours);
  const part = stretchOf(layout, q);
  const r = q - part.from;
  ctx.globalAlpha = own ? 1 : 0.5;
  paintFrame(ctx, columns, k, y - 3, y + layout.rows.end + 2, x, theme.key, true);
  paintFrame(ctx, part.lay, r, x - 3, x + columns.size + 2, y + part.y, theme.query);
  ctx.globalAlpha = 1;
  if (own) paintRing(ctx, part.lay, columns, r, k, x, y + part.y, theme);
  const [value] = valueAt(data, state.cell, index);
  const below = y + layout.rows.high + 3;
  paintColourBar(ctx, x, below, columns.size, block.scale, colours, theme, { pointer: value });
  if (index % layout.across === 0)
    data.title.split(", ").forEach((line, i) =>
      drawText(ctx, line, x - 14, below + 26 + 14 * i, theme.muted, {
        size: 12,
        align: "right",
        theme,
        room: layout.own - 14,
      }),
    );
}
