// Headings and wrapped words on a canvas.

import { drawText } from "../lib/text_drawing.js";
import { font } from "../lib/theme.js";

/** Words in lines no wider than `room`. */
export function wrapText(ctx, words, room, theme) {
  const lines = [""];
  ctx.font = font(theme);
  for (const word of words.split(" ")) {
    const longer = (lines.at(-1) + " " + word).trim();
    if (ctx.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.filter(Boolean);
}

export const paintParagraph = (ctx, lines, x, y, colour, theme) =>
  lines.forEach((line, i) => drawText(ctx, line, x, y + 18 * i, colour, { theme }));

/**
 * A heading with what it means behind it, or below it where there is no room; `single`: in one line
 * or not at all.
 */
export function paintHeading(ctx, words, note, x, y, room, theme, single = false) {
  const wide = drawText(ctx, words, x, y, theme.text, { size: 15, weight: 650, theme, room });
  ctx.font = font(theme);
  const behind = room - wide - 10 >= ctx.measureText(note).width;
  if (behind) drawText(ctx, note, x + wide + 10, y, theme.muted, { theme });
  else if (!single) drawText(ctx, note, x, y + 18, theme.muted, { theme, room });
}
