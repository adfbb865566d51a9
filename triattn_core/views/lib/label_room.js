// How much room the labels of a panel take.

import { clamp } from "./arrays.js";
import { LINE_STEP, countLabelLines, labelsLean, widestLabel } from "./label_text.js";

const LEAN = 96; // pixels of a leaning label

/** The labels left of the rows: their room, and how far apart maps stand that repeat them. */
export function layoutRowLabels(ctx, data, tokens, step, width, theme) {
  const [least, most] = data.grid.labels;
  const letters = widestLabel(ctx, tokens, theme) * 1.04;
  const lines = LINE_STEP * (countLabelLines(ctx, tokens, step, theme) - 1);
  const own = Math.round(clamp(letters, least, Math.max(most, width * 0.08)) + 14 + lines);
  const repeats = own <= 34;
  return { own, repeats, between: repeats ? own + 8 : data.grid.gutter };
}

/**
 * The height of the labels above the columns: leaning ones, and those on several lines, need more.
 * most: pixels of a leaning label; free: of what stands above it.
 */
export function columnLabelHeight(ctx, tokens, pitch, theme, { most = LEAN, free = 22 } = {}) {
  const line = labelsLean(ctx, tokens, pitch, theme)
    ? clamp(widestLabel(ctx, tokens, theme), 20, most) * 0.71 + free
    : 26;
  return line + LINE_STEP * (countLabelLines(ctx, tokens, pitch, theme) - 1);
}
