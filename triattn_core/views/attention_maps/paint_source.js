// Source2token of the chosen head: a bar for each token, and token × feature.

import { featureTokens } from "./layout.js";
import { BARS, LEGIBLE } from "./sizes.js";
import { paintAxisBars } from "../lib/bars.js";
import { paintCells } from "../lib/cells.js";
import { drawText } from "../lib/text_drawing.js";
import { paintColumnLabels, paintRowLabels } from "../lib/labels.js";
import { paintFrame, paintRing } from "../lib/marks.js";

function paintSourceHeading(ctx, { left, top, room }, title, theme) {
  const look = { size: 15, weight: 650, theme };
  const wide = drawText(ctx, "Source2token", left, top, theme.text, look);
  const about = `${title}: what a token has by itself, read down a column`;
  const place = { theme, room: room - wide - 10 };
  drawText(ctx, about, left + wide + 10, top, theme.muted, place);
}

/** A bar for each token: its mean over features. */
function paintTokenBars(ctx, { rows, own, source: { bars, y } }, key, means, theme, chosen, hover) {
  paintRowLabels(ctx, rows, key, bars, y, theme, {
    chosen,
    hover,
    colour: theme.key,
    room: own - 12,
  });
  paintAxisBars(ctx, rows, bars, y, theme, {
    values: [...means],
    chosen,
    colour: theme.key,
    length: BARS - 52,
  });
  drawText(ctx, "mean", bars, y - 8, theme.muted, { size: 12, theme });
}

/** Of the chosen head: a bar for each token, its mean over features; and token × feature. */
export function paintSource(ctx, layout, data, theme, state, colours) {
  const { rows, source } = layout;
  const { left, x, y, top, cells: features } = source;
  const [, k, panel, f] = state.cell;
  const block = data.panels[panel];
  const [, hoverKey, , hoverFeature] = state.hover ?? [-1, -1, -1, -1];
  const end = x + features.size;
  paintSourceHeading(ctx, { left, top, room: end - left }, block.title, theme);
  paintTokenBars(ctx, layout, data.axes.key, block.mean, theme, k, hoverKey);
  const caption = `token × feature, ${data.wide} features ordered by likeness`;
  drawText(ctx, caption, x, top + 22, theme.muted, { theme, room: features.size });
  paintColumnLabels(ctx, features, featureTokens(block), x, y, theme, {
    chosen: f,
    hover: hoverFeature,
    colour: theme.feature,
    room: 96,
  });
  paintCells(ctx, rows, features, x, y, (r, c) => block.features[r * data.wide + c], colours);
  // In thin rows its lines would strike through the token's own label and number: both are in its
  // colour already.
  const from = rows.pitch < LEGIBLE ? x - 3 : left + 2;
  paintFrame(ctx, rows, k, from, end + 3, y, theme.key);
  paintFrame(ctx, features, f, y - 3, y + rows.size + 3, x, theme.feature, true);
  paintRing(ctx, rows, features, k, f, x, y, theme);
}
