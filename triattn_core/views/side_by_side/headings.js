// The heading of a map: its model and what that predicts; of the difference, what it is of.

import { clamp } from "../lib/arrays.js";
import { drawText } from "../lib/text_drawing.js";
import { font } from "../lib/theme.js";
import { DIVERGENCE, SHARED } from "./sizes.js";

/**
 * A line above, the name with its colour, the verdict with its probability, the score on the test
 * set.
 */
export function paintPanelHeading(ctx, { block, x, y }, wide, data, theme) {
  const colour = theme[block.mechanism] ?? theme.bar;
  const tight = wide < 220;
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y, wide, 1);
  // In a narrow panel the verdict takes the note's place, so that the label is never cut.
  const chip =
    block.right === null
      ? 0
      : paintVerdict(ctx, block.right, x + wide, y + (tight ? 11 : 36), theme);
  const room = wide - 19 - (tight ? chip : 0);
  ctx.fillStyle = colour;
  ctx.fillRect(x, y + 14, 11, 11);
  const end = 27 + paintTitle(ctx, block.title, x + 19, y + 25, theme, room);
  if (!tight && wide - end > 60)
    drawText(ctx, block.note, x + end, y + 25, theme.muted, { theme, room: wide - end });
  const right = x + wide - (tight ? 0 : chip);
  const share = drawText(ctx, block.share, right, y + 50, theme.text, {
    size: 14,
    align: "right",
    theme,
  });
  drawText(ctx, block.label, x, y + 50, theme.text, {
    size: 14,
    weight: 650,
    theme,
    room: right - x - share - 8,
  });
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y + 58, wide, 6);
  ctx.fillStyle = colour;
  ctx.fillRect(x, y + 58, wide * clamp(block.probability, 0, 1), 6);
  drawText(ctx, block.score, x, y + 82, theme.muted, { theme, room: wide });
}

/** A heading: smaller before it is cut. */
function paintTitle(ctx, words, x, y, theme, room) {
  ctx.font = font(theme, 17, 650);
  return drawText(ctx, words, x, y, theme.text, {
    size: ctx.measureText(words).width > room ? 14 : 17,
    weight: 650,
    theme,
    room,
  });
}

/**
 * "right" is outlined, "wrong" is filled: told apart without colour.  Returns the room it takes.
 */
function paintVerdict(ctx, right, end, y, theme) {
  ctx.font = font(theme, 13, right ? 650 : 400);
  const label = right ? "right" : "wrong";
  const wide = ctx.measureText(label).width + 14;
  ctx.fillStyle = theme.faint;
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 1;
  right
    ? ctx.strokeRect(end - wide + 0.5, y + 0.5, wide - 1, 18)
    : ctx.fillRect(end - wide, y, wide, 19);
  drawText(ctx, label, end - wide / 2, y + 14, right ? theme.text : theme.muted, {
    weight: right ? 650 : 400,
    align: "center",
    theme,
  });
  return wide + 8;
}

export function paintDifferenceHeading(ctx, { block, x, y }, wide, data, theme) {
  const from = x + wide + 18;
  const room = DIVERGENCE - 18;
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y, wide, 1);
  ctx.fillRect(from, y, room, 1);
  paintTitle(ctx, block.title, x, y + 25, theme, wide);
  block.lines.forEach((line, i) =>
    drawText(ctx, line, x, y + 48 + 18 * i, theme.muted, { theme, room: wide }),
  );
  paintTitle(ctx, "Divergence", from, y + 25, theme, room);
  block.divergence_lines.forEach((line, i) =>
    drawText(ctx, line, from, y + 48 + 18 * i, theme.muted, {
      theme,
      room: room - (i ? SHARED : 0),
    }),
  );
  if (block.overlap)
    drawText(ctx, `top ${block.top}`, from + room, y + 66, theme.muted, { align: "right", theme });
}
