// What the model predicts with one part ablated.

import { paintHeading, paintParagraph } from "./paragraphs.js";
import { LINE } from "./sizes.js";
import { clamp } from "../lib/arrays.js";
import { drawText } from "../lib/text_drawing.js";

export function paintAnswers(
  ctx,
  { answers: { x: left, y, bars, lines, tight }, width },
  data,
  theme,
) {
  const from = left + 128;
  const long = width - from - 118;
  const threshold = from + long / 2;
  paintHeading(
    ctx,
    "With one part ablated",
    `probability of “${data.label}”`,
    left,
    y + 12,
    width - left,
    theme,
  );
  data.answers.forEach(({ off, name, probability, flips }, i) => {
    const top = bars + i * LINE;
    const chosen = off === data.off;
    const weight = chosen ? 700 : 400;
    const change = probability - data.answers[0].probability;
    drawText(ctx, name, from - 10, top + 12, chosen ? theme.text : theme.muted, {
      weight,
      align: "right",
      theme,
    });
    ctx.fillStyle = theme.faint;
    ctx.fillRect(from, top + 3, long, 9);
    ctx.globalAlpha = chosen ? 1 : 0.6;
    ctx.fillStyle = theme.coin;
    ctx.fillRect(from, top + 3, long * clamp(probability, 0, 1), 9);
    ctx.globalAlpha = 1;
    drawText(ctx, probability.toFixed(3), from + long + 52, top + 12, theme.text, {
      weight,
      align: "right",
      theme,
    });
    const changeText = flips
      ? "flips"
      : i
        ? (change < 0 ? "−" : "+") + Math.abs(change).toFixed(3)
        : "";
    drawText(ctx, changeText, width, top + 12, flips ? theme.text : theme.muted, {
      weight: flips ? 700 : 400,
      align: "right",
      theme,
    });
  });
  const foot = bars + data.answers.length * LINE;
  const ticks = { size: 12, theme };
  ctx.fillStyle = theme.muted;
  ctx.fillRect(threshold - 0.5, bars - 1, 1, foot - bars + 3);
  drawText(ctx, "0", from, foot + 14, theme.muted, ticks);
  drawText(ctx, tight ? "0.5" : "0.5, the threshold", threshold, foot + 14, theme.muted, {
    ...ticks,
    align: "center",
  });
  drawText(ctx, "1", from + long, foot + 14, theme.muted, { ...ticks, align: "right" });
  if (tight)
    drawText(ctx, "the threshold", threshold, foot + 29, theme.muted, {
      ...ticks,
      align: "center",
    });
  paintParagraph(ctx, lines, left, foot + (tight ? 52 : 38), theme.muted, theme);
}
