// Beside the maps: where each reader lets the answer start and end.

import { drawText } from "../lib/text_drawing.js";
import { formatShort } from "../lib/numbers.js";

/**
 * Bars on the rows: how likely the answer starts, and ends, at each word; the chosen function
 * before the others.
 */
export function paintAnswerBars(ctx, layout, data, theme, state, parts) {
  const { x, y, width } = layout.side;
  const head = y - layout.above;
  const wide = Math.floor((width - 70) / 2);
  const panel = data.panels[state.cell[2]];
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
  ["start", "end"].forEach((name, i) => {
    const left = x + i * (wide + 38);
    const unit = wide / data.top;
    const most = panel[name].indexOf(Math.max(...panel[name]));
    drawText(ctx, name, left, y - 8, theme.text, { size: 12, weight: 600, theme });
    ctx.fillStyle = theme.muted;
    ctx.fillRect(left - 1, y, 1, layout.rows.end);
    for (const { from, y: top, size, lay } of parts) {
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
        if (from + r === most)
          drawText(
            ctx,
            formatShort(panel[name][most]),
            left + panel[name][most] * unit + 4,
            down + thick / 2 + 4,
            theme.text,
            { size: 12, weight: 650, theme },
          );
      }
    }
    const foot = y + layout.rows.end + 16;
    drawText(ctx, "0", left, foot, theme.muted, { size: 12, align: "center", theme });
    drawText(ctx, formatShort(data.top), left + wide, foot, theme.muted, {
      size: 12,
      align: "center",
      theme,
    });
  });
}
