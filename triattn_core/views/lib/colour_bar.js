// The colour bar of a scale.

import { clamp } from "./arrays.js";
import { BELOW_ZERO } from "./cells.js";
import { drawText } from "./text_drawing.js";
import { formatShort } from "./numbers.js";
import { positionOnScale } from "./scales.js";
import { font } from "./theme.js";

const TITLE = { size: 13, weight: 600 };

/** Where the bar or its title ends, whichever is longer. */
export function barEnd(ctx, { x, wide }, { title }, theme) {
  ctx.font = font(theme, TITLE.size, TITLE.weight);
  return x + Math.max(wide, ctx.measureText(title).width);
}

/**
 * The colour bar: title, ramp, ticks, the uniform mark, what is said of signs, and a pointer at the
 * chosen value; how its steps go stands beside the title where there is one and room, else below.
 */
export function paintColourBar(
  ctx,
  x,
  y,
  width,
  scale,
  colours,
  theme,
  { mark = "", pointer = null, signs = colours.inks ? BELOW_ZERO : "" } = {},
) {
  const at = (value) => x + positionOnScale(scale, value) * width;
  const named = drawText(ctx, scale.title, x, y, theme.text, { ...TITLE, theme }) + 8;
  ctx.font = font(theme, 12);
  const beside = scale.title && scale.how && named + ctx.measureText(scale.how).width <= width;
  if (beside) drawText(ctx, scale.how, x + named, y, theme.muted, { size: 12, theme });
  const step = width / colours.length;
  colours.forEach((colour, i) => {
    ctx.fillStyle = colour;
    ctx.fillRect(x + i * step, y + 20, step + 0.6, 9);
  });
  ctx.strokeStyle = theme.hairline;
  ctx.lineWidth = 1;
  ctx.strokeRect(x - 0.5, y + 19.5, width + 1, 10);
  ctx.font = font(theme, 12);
  ctx.fillStyle = theme.muted;
  let taken = -Infinity;
  for (const tick of scale.ticks) {
    const label = formatShort(tick);
    const half = ctx.measureText(label).width / 2;
    const middle = clamp(at(tick), x + half, x + width - half);
    ctx.fillRect(at(tick) - 0.5, y + 29, 1, 3);
    if (middle - half < taken + 6) continue;
    ctx.textAlign = "center";
    ctx.fillText(label, middle, y + 44);
    taken = middle + half;
  }
  if (scale.kind === "log") {
    ctx.fillStyle = theme.text;
    ctx.fillRect(at(scale.uniform) - 0.75, y + 16, 1.5, 16);
  }
  const foot = [scale.kind === "log" && mark && "┃ " + mark, signs, !beside && scale.how]
    .filter(Boolean)
    .join(", ");
  drawText(ctx, foot, x, y + 62, theme.muted, { size: 12, theme });
  if (pointer !== null) paintPointer(ctx, at(pointer), y + 18, theme.text);
}

function paintPointer(ctx, x, y, colour) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - 4, y - 6);
  ctx.lineTo(x + 4, y - 6);
  ctx.closePath();
  ctx.fill();
}
