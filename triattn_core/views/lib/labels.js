// The labels of rows and columns.

import { clamp } from "./arrays.js";
import { thinLabels } from "./axis.js";
import { fitText } from "./text_drawing.js";
import {
  LABEL_PITCH,
  LEANING,
  LINE_STEP,
  SMALL_LEANING,
  axisLabel,
  countLabelLines,
  isUpright,
  isWide,
  labelLine,
  labelsLean,
  liesFlat,
  markedPlaces,
  widestLabel,
} from "./label_text.js";
import { font } from "./theme.js";

function prepareLabel(ctx, tokens, i, theme, { chosen, colour, room, pitch = 20, size }) {
  const label = axisLabel(tokens, i);
  ctx.font = font(
    theme,
    size ?? (isWide(label) ? clamp(pitch - 1.5, 12, 15.5) : pitch < 15 ? 12 : 13),
    i === chosen || tokens.marked?.[i] ? 700 : 400,
  );
  ctx.fillStyle = i === chosen ? colour : tokens.special[i] ? theme.muted : theme.text;
  return fitText(ctx, label, room);
}

/** Row labels, right-aligned at x.  options: {chosen, colour, hover, weights, room} */
export function paintRowLabels(ctx, layout, tokens, x, y, theme, options) {
  const lines = countLabelLines(ctx, tokens, layout.pitch, theme);
  const visible = thinLabels(
    layout,
    LABEL_PITCH / lines,
    [options.chosen, options.hover ?? -1, ...markedPlaces(tokens)],
    options.weights,
  );
  for (const i of visible) {
    const label = prepareLabel(ctx, tokens, i, theme, { ...options, pitch: layout.pitch });
    ctx.textAlign = lines > 1 ? "center" : "right";
    ctx.textBaseline = "middle";
    ctx.fillText(
      label,
      lines > 1 ? x - LINE_STEP * (1 + labelLine(tokens, i)) : x - 8,
      y + layout.at[i] + layout.pitch / 2 + 0.5,
    );
  }
  if (layout.pitch >= 15)
    eachTiedWord(
      tokens,
      (i, n) =>
        ctx.fillRect(
          x - 4,
          y + layout.at[i] + 4,
          1.5,
          layout.at[n] - layout.at[i] + layout.pitch - 8,
        ),
      ctx,
      theme,
    );
}

/** Column labels standing on y.  Leaning ones turn by 45 degrees about their foot. */
export function paintColumnLabels(ctx, layout, tokens, x, y, theme, options) {
  const leaning = labelsLean(ctx, tokens, layout.pitch, theme);
  const lines = countLabelLines(ctx, tokens, layout.pitch, theme);
  const small = leaning && layout.pitch < LEANING && !tokens.label.some(isWide);
  const upright = tokens.label.map((_, i) => isUpright(ctx, tokens, i, theme));
  const all = upright.every((one, i) => one || tokens.special[i]);
  const visible = thinLabels(
    layout,
    liesFlat(tokens)
      ? widestLabel(ctx, tokens, theme) + 5
      : all
        ? LABEL_PITCH / lines
        : leaning
          ? small
            ? SMALL_LEANING
            : LEANING
          : 13,
    [options.chosen, options.hover ?? -1, ...markedPlaces(tokens)],
    options.weights,
  );
  for (const i of visible) {
    const lean = leaning && !upright[i];
    const label = prepareLabel(ctx, tokens, i, theme, {
      ...options,
      room: lean ? options.room : Infinity,
      pitch: layout.pitch,
      size: small ? 11 : undefined,
    });
    ctx.textBaseline = lean ? "middle" : "alphabetic";
    ctx.textAlign = lean ? "left" : "center";
    ctx.save();
    const lift = lean
      ? (upright.includes(true) ? 20 : 10) + LINE_STEP * (lines - 1)
      : 9 + LINE_STEP * (lines > 1 ? labelLine(tokens, i) : 0);
    ctx.translate(x + layout.at[i] + layout.pitch / 2, y - lift);
    if (lean) ctx.rotate(-Math.PI / 4);
    ctx.fillText(label, 0, 0);
    ctx.restore();
  }
  if (layout.pitch >= 15)
    eachTiedWord(
      tokens,
      (i, n) =>
        ctx.fillRect(
          x + layout.at[i] + 4,
          y - 4,
          layout.at[n] - layout.at[i] + layout.pitch - 8,
          1.5,
        ),
      ctx,
      theme,
    );
}

/**
 * Calls `paint(first, last)` for each word made of several pieces: a thin line ties them together.
 */
function eachTiedWord(tokens, paint, ctx, theme) {
  ctx.fillStyle = theme.muted;
  for (let i = 0; i < tokens.label.length; i++) {
    let last = i;
    while (tokens.joined[last + 1]) last++;
    if (last > i) paint(i, last);
    i = last;
  }
}
