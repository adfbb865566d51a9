// Bars beside an axis.

import { clamp } from "./arrays.js";
import { formatShort } from "./numbers.js";
import { font } from "./theme.js";

/**
 * Bars beside an axis, from a thin base line; signed ones from its middle, to the right or (with
 * `down`) upwards.
 */
export function paintAxisBars(
  ctx,
  layout,
  x,
  y,
  theme,
  { values, chosen, colour, length = 28, down = false },
) {
  const top = Math.max(...values.map(Math.abs), 1e-30);
  const signed = values.some((v) => v < 0);
  const zero = signed ? length / 2 : 0;
  const unit = ((signed ? length / 2 : length) / top) * (signed && down ? -1 : 1);
  const thick = clamp(layout.pitch * 0.45, 1, 12);
  const inset = (layout.pitch - layout.line - thick) / 2;
  values.forEach((value, i) => {
    ctx.fillStyle = i === chosen ? colour : theme.bar;
    const size = Math.max(Math.abs(value * unit), 0.75);
    const from = zero + (value * unit < 0 ? -size : 0);
    const across = Math.max(thick, i === chosen ? 3 : 0);
    const at = layout.at[i] + inset - (across - thick) / 2;
    down
      ? ctx.fillRect(x + at, y + from, across, size)
      : ctx.fillRect(x + from, y + at, size, across);
  });
  ctx.fillStyle = theme.muted;
  down
    ? ctx.fillRect(x, y + zero - 0.5, layout.size, 1)
    : ctx.fillRect(x + zero - 0.5, y, 1, layout.size);
  if (chosen < 0) return;
  ctx.font = font(theme, 12, 700);
  ctx.fillStyle = colour;
  ctx.textAlign = down ? "center" : "left";
  ctx.textBaseline = "middle";
  const end = zero + Math.max(values[chosen] * unit, 0) + 5;
  const middle = layout.at[chosen] + layout.pitch / 2;
  const text =
    Math.abs(values[chosen]) >= 0.01
      ? values[chosen].toPrecision(2).replace("-", "−")
      : formatShort(values[chosen]);
  down ? ctx.fillText(text, x + middle, y + end + 5) : ctx.fillText(text, x + end, y + middle);
}
