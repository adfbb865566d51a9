// The maps of a block, and both sentences over themselves.

import { paintGate, paintGateHead } from "./gate.js";
import { SCALE_OF_MAP } from "./model.js";
import { paintHeading, paintParagraph, wrapText } from "./paragraphs.js";
import { TITLE } from "./sizes.js";
import { paintValues } from "./values.js";
import { drawText } from "../lib/text_drawing.js";
import { paintRowLabels } from "../lib/labels.js";
import { axisSize } from "../lib/map_data.js";
import { paintFrame, paintRing } from "../lib/marks.js";

export function paintBlockName(ctx, { block, index, y }, layout, data, theme, state) {
  const { rows, narrow, stacked, lean } = layout;
  const chosen = index === state.cell[2];
  const middle = y + Math.max(rows.size, narrow ? 24 : 44) / 2;
  if (stacked)
    drawText(ctx, `Block ${index + 1}`, 0, y - lean - TITLE - 6, theme.text, {
      size: 17,
      weight: 650,
      theme,
    });
  else
    drawText(
      ctx,
      String(index + 1),
      0,
      middle + (narrow ? 8 : 16),
      chosen ? theme.text : theme.muted,
      {
        size: 24,
        weight: 650,
        theme,
      },
    );
  if (!narrow) drawText(ctx, "block", 0, middle - 10, theme.muted, { theme });
  if (chosen && !narrow) ctx.fillRect(0, middle + 22, 14, 2);
  if (layout.bars && (stacked || !index))
    paintGateHead(ctx, layout, stacked ? y - lean - 6 : 16, theme);
  if (block?.gate) paintGate(ctx, block, y, layout, theme, state);
}

export function paintMap(ctx, { block, map, x, y, index }, layout, data, theme, state) {
  const { rows, columns, maps } = layout;
  const [q, k, chosen] = state.cell;
  const n = axisSize(data, "key");
  const first = map === maps[0];
  if (!block)
    return paintEmpty(
      ctx,
      x,
      y,
      columns.size,
      rows.size,
      first ? `Block ${index + 1} is ablated: it passes its input on unchanged.` : "",
      theme,
    );
  if (first || layout.stacked)
    paintRowLabels(ctx, rows, data.axes.query, layout.x, y, theme, {
      chosen: q,
      hover: state.hover?.[0] ?? -1,
      colour: theme.query,
      room: layout.own - 12,
    });
  const values = block[map.name];
  const scale = data[SCALE_OF_MAP[map.name]];
  if (!values) return paintEmpty(ctx, x, y, columns.size, rows.size, map.empty ?? "", theme);
  const value = (r, c) => values[r * n + c];
  paintValues(ctx, rows, columns, x, y, scale, value, state.tables[scale.kind]);
  paintFrame(ctx, columns, k, y - 3, y + rows.size + 2, x, theme.key, true);
  paintFrame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  if (index === chosen) paintRing(ctx, rows, columns, q, k, x, y, theme);
}

/** The place of a map that has no cells, and why. */
function paintEmpty(ctx, x, y, wide, high, why, theme) {
  ctx.strokeStyle = theme.hairline;
  ctx.lineWidth = 1;
  ctx.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1);
  paintParagraph(ctx, wrapText(ctx, why, wide - 20, theme), x + 10, y + 22, theme.muted, theme);
}

export function paintSelves(ctx, layout, data, theme, state) {
  const { selves, narrow } = layout;
  const [q, k, chosen, , a, b] = state.cell;
  if (!selves.length) return;
  paintHeading(
    ctx,
    "Self-alignment",
    "each word over its own sentence",
    selves[0].x,
    narrow ? selves[0].y - 42 : 16,
    narrow ? layout.width : 2 * selves[0].room + 20,
    theme,
  );
  for (const { block, index, axis, s, x, y, down, across, room } of selves) {
    const name = (narrow ? `block ${index + 1}, ` : "") + data.sides[s];
    if (narrow || !index) drawText(ctx, name, x, y - 8, theme[axis], { weight: 650, theme });
    if (!block?.own.length) {
      paintEmpty(ctx, x, y, room, down.size, "", theme);
      if (room > 64 && down.size > 24)
        drawText(ctx, "ablated", x + 10, y + 22, theme.muted, { theme });
      continue;
    }
    const n = axisSize(data, axis);
    const [from, to] = s ? [k, b] : [q, a];
    const value = (r, c) => block.own[s][r * n + c];
    paintValues(ctx, down, across, x, y, data.scale, value, state.tables.log);
    paintFrame(ctx, down, from, x - 2, x + across.size + 1, y, theme[axis]);
    if (index === chosen) paintRing(ctx, down, across, from, to, x, y, theme);
  }
}
