// What the model predicts with one part ablated.

import { paintHeading, paintParagraph } from "./paragraphs.js";
import { LINE } from "./sizes.js";
import { clamp } from "../lib/arrays.js";
import { formatChange } from "../lib/numbers.js";
import { drawText } from "../lib/text_drawing.js";

/** One prediction: its name, a bar, the probability, and its change against the whole model. */
function paintAnswer(ctx, { from, long, top, width }, answer, change, chosen, theme) {
  const { name, probability, flips } = answer;
  const look = { weight: chosen ? 700 : 400, align: "right", theme };
  drawText(ctx, name, from - 10, top + 12, chosen ? theme.text : theme.muted, look);
  ctx.fillStyle = theme.faint;
  ctx.fillRect(from, top + 3, long, 9);
  ctx.globalAlpha = chosen ? 1 : 0.6;
  ctx.fillStyle = theme.coin;
  ctx.fillRect(from, top + 3, long * clamp(probability, 0, 1), 9);
  ctx.globalAlpha = 1;
  drawText(ctx, probability.toFixed(3), from + long + 52, top + 12, theme.text, look);
  const signed = change === null ? "" : formatChange(change, 3);
  drawText(ctx, flips ? "flips" : signed, width, top + 12, flips ? theme.text : theme.muted, {
    ...look,
    weight: flips ? 700 : 400,
  });
}

/** The line of the threshold through the bars, and the scale below them. */
function paintThreshold(ctx, { from, long, bars, foot, tight }, theme) {
  const threshold = from + long / 2;
  const look = { size: 12, theme };
  const centred = { ...look, align: "center" };
  ctx.fillStyle = theme.muted;
  ctx.fillRect(threshold - 0.5, bars - 1, 1, foot - bars + 3);
  drawText(ctx, "0", from, foot + 14, theme.muted, look);
  const half = tight ? "0.5" : "0.5, the threshold";
  drawText(ctx, half, threshold, foot + 14, theme.muted, centred);
  drawText(ctx, "1", from + long, foot + 14, theme.muted, { ...look, align: "right" });
  if (tight) drawText(ctx, "the threshold", threshold, foot + 29, theme.muted, centred);
}

export function paintAnswers(
  ctx,
  { answers: { x: left, y, bars, lines, tight }, width },
  data,
  theme,
) {
  const from = left + 128;
  const long = width - from - 118;
  const subtitle = `probability of “${data.label}”`;
  paintHeading(ctx, "With one part ablated", subtitle, left, y + 12, width - left, theme);
  data.answers.forEach((answer, i) => {
    const place = { from, long, top: bars + i * LINE, width };
    const change = i ? answer.probability - data.answers[0].probability : null;
    paintAnswer(ctx, place, answer, change, answer.off === data.off, theme);
  });
  const foot = bars + data.answers.length * LINE;
  paintThreshold(ctx, { from, long, bars, foot, tight }, theme);
  paintParagraph(ctx, lines, left, foot + (tight ? 52 : 38), theme.muted, theme);
}
