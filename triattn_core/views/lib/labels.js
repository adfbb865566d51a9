// The labels of rows and columns: measured here, laid out by the rule of labels.py.

import { clamp } from "./arrays.js";
import { thinLabels } from "./axis.js";
import { fitText } from "./text_drawing.js";
import { font } from "./theme.js";

/* global LABELS */ // the rule, which figure.py writes before this script

const TYPE = 13; // pixels
const WIDE_TYPE = [12, 15.5]; // of Chinese, least and most
const LINE_STEP = 14; // between two lines in which labels take turns
const LEAN = 0.71; // of a leaning label's length its height
export const longestLabel = () => TYPE * LABELS.longest;
export const lineHeight = () => TYPE * LABELS.line;

/**
 * Text from right to left with its direction isolated (U+2068 to U+2069), so that what follows it
 * in a sentence, such as a number, stays behind it.
 */
const isolate = (text) =>
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u.test(text) ? `\u2068${text}\u2069` : text;

/** A token in words: T4 of a folded axis is turn 4. */
export const spokenLabel = (tokens, i) => isolate((tokens.joined[i] ? "·" : "") + tokens.name[i]);

/** Width of the widest label that `has`; the chosen one is bold (700). */
export const widestLabel = (ctx, tokens, theme, weight = 400, has = () => true) =>
  Math.max(
    0,
    ...tokens.label.map((label, i) => {
      if (!has(i)) return 0;
      ctx.font = font(theme, tokens.wide?.[i] ? WIDE_TYPE[1] : TYPE, weight);
      return ctx.measureText(label).width;
    }),
  );

/** How labels along a side are drawn; `apart` in pixels. */
function wayOf(ctx, tokens, pitch, theme, side = "columns") {
  const widest = () =>
    widestLabel(ctx, tokens, theme, 400, (i) => !tokens.stands?.[i]) + TYPE * LABELS.gap;
  const ways = LABELS[side][tokens.kind].map(({ apart, ...way }) => ({
    ...{ lines: 1, size: 1, lean: false, ...way },
    apart: apart ? TYPE * apart : widest(),
  }));
  return ways.find(({ apart }) => apart <= pitch) ?? ways.at(-1);
}

/** The labels left of the rows: their room, and how far apart maps stand that repeat them. */
export function layoutRowLabels(ctx, data, tokens, step, width, theme) {
  const [least, most] = data.grid.labels;
  const letters = widestLabel(ctx, tokens, theme) * 1.04;
  const lines = LINE_STEP * (wayOf(ctx, tokens, step, theme, "rows").lines - 1);
  const own = Math.round(clamp(letters, least, Math.max(most, width * 0.08)) + 14 + lines);
  const repeats = own <= 34;
  return { own, repeats, between: repeats ? own + 8 : data.grid.gutter };
}

/**
 * The height of the labels above the columns: leaning ones, and those on several lines, need more.
 * most: pixels of a leaning label; free: of what stands above it.
 */
export function columnLabelHeight(
  ctx,
  tokens,
  pitch,
  theme,
  { most = longestLabel(), free = 22 } = {},
) {
  const { lean, lines } = wayOf(ctx, tokens, pitch, theme);
  const leans = lean && tokens.stands.includes(0);
  const line = leans ? clamp(widestLabel(ctx, tokens, theme), 20, most) * LEAN + free : 26;
  return line + LINE_STEP * (lines - 1);
}

function prepareLabel(ctx, tokens, i, theme, { chosen, colour, room, pitch = 20 }, size = 1) {
  const own = tokens.wide?.[i] ? clamp(pitch - 1.5, ...WIDE_TYPE) : pitch < 15 ? TYPE - 1 : TYPE;
  const weight = i === chosen || tokens.marked?.[i] ? 700 : 400;
  ctx.font = font(theme, size < 1 ? TYPE * size : own, weight);
  ctx.fillStyle = i === chosen ? colour : tokens.special[i] ? theme.muted : theme.text;
  return fitText(ctx, tokens.label[i], room);
}

const namedOf = (layout, tokens, { apart }, { chosen, hover = -1 }) =>
  thinLabels(layout, apart, [chosen, hover], tokens.rank);

/** Row labels, right-aligned at x.  options: {chosen, colour, hover, room} */
export function paintRowLabels(ctx, layout, tokens, x, y, theme, options) {
  const way = wayOf(ctx, tokens, layout.pitch, theme, "rows");
  for (const i of namedOf(layout, tokens, way, options)) {
    const label = prepareLabel(ctx, tokens, i, theme, { ...options, pitch: layout.pitch });
    const left = way.lines > 1 ? x - LINE_STEP * (1 + (i % way.lines)) : x - 8;
    ctx.textAlign = way.lines > 1 ? "center" : "right";
    ctx.textBaseline = "middle";
    ctx.fillText(label, left, y + layout.at[i] + layout.pitch / 2 + 0.5);
  }
  tieWords(ctx, layout, tokens, theme, (from, size) => ctx.fillRect(x - 4, y + from, 1.5, size));
}

/** Column labels standing on y.  Leaning ones turn by 45 degrees about their foot. */
export function paintColumnLabels(ctx, layout, tokens, x, y, theme, options) {
  const way = (layout.way ??= wayOf(ctx, tokens, layout.pitch, theme)); // measured once
  const foot = tokens.stands?.includes(1) ? 20 : 10;
  for (const i of namedOf(layout, tokens, way, options)) {
    const lean = way.lean && !tokens.stands[i];
    const look = { ...options, room: lean ? options.room : Infinity, pitch: layout.pitch };
    const label = prepareLabel(ctx, tokens, i, theme, look, way.size);
    ctx.textBaseline = lean ? "middle" : "alphabetic";
    ctx.textAlign = lean ? "left" : "center";
    ctx.save();
    const line = LINE_STEP * (lean ? way.lines - 1 : i % way.lines);
    ctx.translate(x + layout.at[i] + layout.pitch / 2, y - (lean ? foot : 9) - line);
    if (lean) ctx.rotate(-Math.PI / 4);
    ctx.fillText(label, 0, 0);
    ctx.restore();
  }
  tieWords(ctx, layout, tokens, theme, (from, size) => ctx.fillRect(x + from, y - 4, size, 1.5));
}

/** A thin line ties together each word made of several pieces: `paint(from, size)`. */
function tieWords(ctx, { at, pitch }, tokens, theme, paint) {
  if (pitch < 15) return;
  ctx.fillStyle = theme.muted;
  for (let i = 0; i < tokens.label.length; i++) {
    const first = i;
    while (tokens.joined[i + 1]) i++;
    if (i > first) paint(at[first] + 4, at[i] - at[first] + pitch - 8);
  }
}
