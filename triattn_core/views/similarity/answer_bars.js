// Beside the maps: where each reader lets the answer start and end.

import { drawText } from "../lib/text_drawing.js";
import { font } from "../lib/theme.js";
import { formatShort } from "../lib/numbers.js";

const READABLE = 1; // of the stretches, the one whose rows have their words at the left

/** The word of a bar in a row that cannot be read, on a ground of its own. */
function paintWord(ctx, word, { x, y }, room, theme) {
  ctx.font = font(theme, 12);
  ctx.globalAlpha = 0.85;
  ctx.fillStyle = theme.page;
  ctx.fillRect(x - 2, y - 10, Math.min(ctx.measureText(word).width, room) + 4, 13);
  ctx.globalAlpha = 1;
  drawText(ctx, word, x, y, theme.text, { size: 12, theme, room });
}

function paintHeading(ctx, { x, width }, head, data, theme) {
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, head, width, 1);
  drawText(ctx, "Answer span", x, head + 21, theme.text, {
    size: 15,
    weight: 650,
    theme,
    room: width,
  });
  drawText(ctx, "probability by word", x, head + 40, theme.muted, { theme, room: width });
  if (data.panels.length > 1)
    drawText(ctx, "grey: the others", x, head + 58, theme.muted, { theme, room: width });
}

/**
 * Bars on the rows: how likely the answer starts, and ends, at each word; the chosen function
 * before the others.
 */
export function paintAnswerBars(ctx, layout, data, theme, state, parts) {
  const { x, y, width } = layout.side;
  const head = y - layout.above;
  const wide = Math.floor((width - 70) / 2);
  const panel = data.panels[state.cell[2]];
  paintHeading(ctx, layout.side, head, data, theme);
  ["start", "end"].forEach((name, i) => {
    const left = x + i * (wide + 38);
    const unit = wide / data.top;
    const most = panel[name].indexOf(Math.max(...panel[name]));
    drawText(ctx, name, left, y - 8, theme.text, { size: 12, weight: 600, theme });
    ctx.fillStyle = theme.muted;
    ctx.fillRect(left - 1, y, 1, layout.rows.end);
    parts.forEach(({ from, y: top, size, lay }, stretch) => {
      const inset = lay.line ? 3 : 0;
      const thick = Math.max(lay.pitch - 2 * inset - lay.line, 1);
      for (let r = 0; r < size; r++) {
        const down = y + top + lay.at[r] + inset;
        const bar = (value, colour, alpha) => {
          if (value < data.top / 300) return;
          ctx.globalAlpha = alpha;
          ctx.fillStyle = colour;
          ctx.fillRect(left, down, Math.max(value * unit, 1), thick);
          ctx.globalAlpha = 1;
        };
        for (const other of data.panels)
          if (other !== panel) bar(other[name][from + r], theme.bar, 0.4);
        bar(panel[name][from + r], theme.accent, 0.95);
        if (from + r !== most) continue;
        const spot = { x: left + panel[name][most] * unit + 4, y: down + thick / 2 + 4 };
        const look = { size: 12, weight: 650, theme };
        drawText(ctx, formatShort(panel[name][most]), spot.x, spot.y, theme.text, look);
        if (stretch !== READABLE)
          paintWord(
            ctx,
            data.axes.query.label[most],
            { x: left + 4, y: spot.y + 13 },
            wide + 30,
            theme,
          );
      }
    });
    const foot = y + layout.rows.end + 16;
    drawText(ctx, "0", left, foot, theme.muted, { size: 12, align: "center", theme });
    drawText(ctx, formatShort(data.top), left + wide, foot, theme.muted, {
      size: 12,
      align: "center",
      theme,
    });
  });
}
