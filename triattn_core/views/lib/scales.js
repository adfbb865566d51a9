// Colour scales, as `scale_payload` of palette.py writes them.

import { clamp } from "./arrays.js";

/** The value that a level stands for. */
export function valueOfLevel(scale, level) {
  const t = level / (scale.steps - 1);
  if (scale.kind === "log") return scale.low * (scale.high / scale.low) ** t;
  const s = 2 * t - 1;
  return scale.limit * Math.sign(s) * Math.abs(s) ** (1 / scale.power);
}

/** Where a value stands on its scale, 0 to 1. */
export function positionOnScale(scale, value) {
  if (scale.kind === "linear") return clamp(value / scale.high, 0, 1);
  if (scale.kind === "log")
    return clamp(
      Math.log(Math.max(value, 1e-30) / scale.low) / Math.log(scale.high / scale.low),
      0,
      1,
    );
  const s = clamp(value / scale.limit, -1, 1);
  return (1 + Math.sign(s) * Math.abs(s) ** scale.power) / 2;
}

/** The level nearest to a value. */
export const levelOnScale = (scale, value) =>
  Math.round(positionOnScale(scale, value) * (scale.steps - 1));
