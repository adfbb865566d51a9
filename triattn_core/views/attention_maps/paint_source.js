// Source2token of the chosen head: a bar for each token, and token × feature.

import { featureTokens } from "./layout.js";
import { BARS, LEGIBLE } from "./sizes.js";
import { paintAxisBars } from "../lib/bars.js";
import { paintCells } from "../lib/cells.js";
import { drawText } from "../lib/text_drawing.js";
import { paintColumnLabels, paintRowLabels } from "../lib/labels.js";
import { paintFrame, paintRing } from "../lib/marks.js";

/** Of the chosen head: a bar for each token, its mean over features; and token × feature. */
export function paintSource(ctx, layout, data, theme, state, colours) {
  const { rows, source } = layout;
  const { left, bars: from, x, y, top, cells: features } = source;
  const [, k, panel, f] = state.cell;
  const block = data.panels[panel];
  const key = data.axes.key;
  const hover = state.hover ?? [-1, -1, -1, -1];
  const room = x + features.size - left;
  const wide = drawText(ctx, "Source2token", left, top, theme.text, {
    size: 15,
    weight: 650,
    theme,
  });
  drawText(
    ctx,
    `${block.title}: what a token has by itself, read down a column`,
    left + wide + 10,
    top,
    theme.muted,
    { theme, room: room - wide - 10 },
  );
  paintRowLabels(ctx, rows, key, from, y, theme, {
    chosen: k,
    hover: hover[1],
    colour: theme.key,
    room: layout.own - 12,
  });
  paintAxisBars(ctx, rows, from, y, theme, {
    values: [...block.mean],
    chosen: k,
    colour: theme.key,
    length: BARS - 52,
  });
  drawText(ctx, "mean", from, y - 8, theme.muted, { size: 12, theme });
  drawText(
    ctx,
    `token × feature, ${data.wide} features ordered by likeness`,
    x,
    top + 22,
    theme.muted,
    { theme, room: features.size },
  );
  paintColumnLabels(ctx, features, featureTokens(block), x, y, theme, {
    chosen: f,
    hover: hover[3],
    colour: theme.feature,
    room: 96,
  });
  paintCells(ctx, rows, features, x, y, (r, c) => block.features[r * data.wide + c], colours);
  // In thin rows its lines would strike through the token's own label and number: both are in its
  // colour already.
  paintFrame(
    ctx,
    rows,
    k,
    rows.pitch < LEGIBLE ? x - 3 : left + 2,
    x + features.size + 3,
    y,
    theme.key,
  );
  paintFrame(ctx, features, f, y - 3, y + rows.size + 3, x, theme.feature, true);
  paintRing(ctx, rows, features, k, f, x, y, theme);
}
