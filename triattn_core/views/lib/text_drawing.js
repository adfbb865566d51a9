// Text on a canvas.  Tokens only ever meet fillText: nothing is read as HTML.

import { font } from "./theme.js";

/** A label cut to `room` pixels with an ellipsis. */
export function fitText(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && ctx.measureText(letters.join("") + "…").width > room) letters.pop();
  return letters.join("") + "…";
}

/** Words at a place, cut to `room`; returns how wide they are. */
export function drawText(
  ctx,
  words,
  x,
  y,
  colour,
  { size = 13, weight = 400, align = "left", theme, room = Infinity },
) {
  ctx.font = font(theme, size, weight);
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.textBaseline = "alphabetic";
  const fitted = room === Infinity ? words : fitText(ctx, words, room);
  ctx.fillText(fitted, x, y);
  return ctx.measureText(fitted).width;
}

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
