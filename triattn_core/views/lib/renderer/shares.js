// Beside the maps a bar a row of the panel that is chosen, those of the others pale behind it.

import { formatShort } from "../numbers.js";
import { drawText } from "../text_drawing.js";
import { font } from "../theme.js";
import { chosenPanel } from "./description.js";
import { partsOf } from "./focus.js";

const NUMBER = 34; // pixels of a number beyond the longest bar
const LEAST = 1 / 300; // of the scale: a shorter bar is none
const TOPS = new WeakMap();

/** The largest of all that marks of this kind show: one scale for them. */
function topOf(data) {
  if (!TOPS.has(data)) {
    const marks = data.panels.flatMap((panel) => panel.marks.filter(isShares));
    const lists = marks.flatMap((mark) => panelsWith(data, mark).map((one) => listOf(one, mark)));
    TOPS.set(data, Math.max(1e-6, ...lists.map((list) => Math.max(...list))));
  }
  return TOPS.get(data);
}

const isShares = ({ mark }) => mark === "shares";
const listOf = (panel, mark) => panel.arrays[mark.values].values;
const panelsWith = (data, mark) => data.panels.filter((panel) => panel.arrays[mark.values]);

/** x: where the bars begin; their heading is painted by whoever calls. */
export function paintShares(ctx, mark, { panel: { rows: axis }, rows, y }, x, data, theme, state) {
  const top = topOf(data);
  const long = mark.size - 18 - NUMBER;
  const chosen = chosenPanel(data, state.cell);
  const values = listOf(chosen, mark);
  const others = panelsWith(data, mark).filter((panel) => panel !== chosen);
  const most = values.indexOf(Math.max(...values));
  ctx.fillStyle = theme.muted;
  ctx.fillRect(x - 1, y, 1, rows.size);
  for (const { from, at, pitch, line, read } of partsOf(rows)) {
    const inset = line ? 3 : 0;
    const thick = Math.max(pitch - 2 * inset - line, 1);
    at.forEach((row, r) => {
      const i = from + r;
      const down = y + row + inset;
      const bar = (value, colour, alpha) => {
        if (value < top * LEAST) return;
        ctx.globalAlpha = alpha;
        ctx.fillStyle = colour;
        ctx.fillRect(x, down, Math.max((value / top) * long, 1), thick);
        ctx.globalAlpha = 1;
      };
      for (const other of others) bar(listOf(other, mark)[i], theme.bar, 0.4);
      bar(values[i], theme[chosen.ink] ?? theme.accent, 0.95);
      if (i !== most) return;
      const end = { x: x + (values[i] / top) * long + 4, y: down + thick / 2 + 4 };
      const look = { size: 12, weight: 650, theme };
      drawText(ctx, formatShort(values[i]), end.x, end.y, theme.text, look);
      const word = data.axes[axis].label[i];
      if (!read) paintWord(ctx, word, x + 4, end.y + 13, mark.size - 22, theme);
    });
  }
  const look = { size: 12, align: "center", theme };
  drawText(ctx, "0", x, y + rows.size + 16, theme.muted, look);
  drawText(ctx, formatShort(top), x + long, y + rows.size + 16, theme.muted, look);
}

/** The word of a bar in a row that cannot be read, on a ground of its own. */
function paintWord(ctx, word, x, y, room, theme) {
  ctx.font = font(theme, 12);
  ctx.globalAlpha = 0.85;
  ctx.fillStyle = theme.page;
  ctx.fillRect(x - 2, y - 10, Math.min(ctx.measureText(word).width, room) + 4, 13);
  ctx.globalAlpha = 1;
  drawText(ctx, word, x, y, theme.text, { size: 12, theme, room });
}
