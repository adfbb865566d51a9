// The words of the rows that can be read, and the count of the others.

import { drawText } from "../lib/text_drawing.js";
import { paintRowLabels } from "../lib/labels.js";
import { inSpan } from "./model.js";

const sliceTokens = (tokens, from, size) =>
  Object.fromEntries(
    Object.entries(tokens).map(([name, list]) => [
      name,
      Array.isArray(list) ? list.slice(from, from + size) : list,
    ]),
  );

/**
 * Words of the rows that can be read, the answer's on a ground of their own; the others as a count.
 */
export function paintLabels(ctx, { x, y }, layout, data, theme, state, parts) {
  const { query } = data.axes;
  const [q, , panel] = state.cell;
  const best = data.panels[panel].spans[0];
  parts.forEach(({ from, y: top, size, lay }, i) => {
    if (!size) return;
    for (let r = 0; r < size; r++) {
      if (!inSpan(data, from + r, best)) continue;
      ctx.globalAlpha = 0.3;
      ctx.fillStyle = theme.accent;
      ctx.fillRect(
        x - layout.own,
        y + top + lay.at[r],
        layout.own - 5,
        Math.max(lay.pitch - lay.line, 1),
      );
      ctx.globalAlpha = 1;
    }
    if (i === 1)
      return paintRowLabels(ctx, lay, sliceTokens(query, from, size), x, y + top, theme, {
        chosen: q - from,
        hover: (state.hover?.[0] ?? -9) - from,
        colour: theme.query,
        room: layout.own - 12,
      });
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(x - 8, y + top, 2, lay.size);
    const middle = y + top + lay.size / 2;
    const look = { align: "right", theme, size: 12 };
    if (lay.size >= 30)
      [size > 1 ? "rows" : "row", size > 1 ? `${from + 1}–${from + size}` : from + 1].forEach(
        (line, j) => drawText(ctx, line, x - 14, middle - 3 + 14 * j, theme.muted, look),
      );
    else if (lay.size >= 11)
      drawText(
        ctx,
        size > 1 ? `${from + 1}–${from + size}` : from + 1,
        x - 14,
        middle + 4,
        theme.muted,
        look,
      );
  });
}
