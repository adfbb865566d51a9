// What the labels of an axis say, how wide they are and whether they lean.

import { font } from "./theme.js";

export const LABEL_PITCH = 12.5;
export const LEANING = 15.5; // pixels between labels that lean, and between small ones
export const SMALL_LEANING = 12;
export const LINE_STEP = 14; // pixels between labels that stand, and between two lines of them

export const isWide = (label) =>
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff00-\uff60]+$/u.test(
    label,
  );

const SEGMENTER = new Intl.Segmenter();
const UPRIGHT = new WeakMap(); // of an axis, by label: they are asked for at every paint

const isSingleCharacter = (label) =>
  label.length === 1 || [...SEGMENTER.segment(label)].length === 1;

const labelSize = (label) => (isWide(label) ? 15.5 : 13);

/** Whether no label of an axis leans: groups, and positions that stand for tokens nobody named. */
export const liesFlat = (tokens) =>
  Boolean(tokens.flat) || tokens.label.every((label) => /^\d+$/.test(label));

const tieMark = (tokens, i) => (tokens.joined[i] ? "·" : "");

const MARK = "▸ "; // before a word that the model is asked about

/** The places of such words. */
export const markedPlaces = ({ marked = [] }) => marked.flatMap((one, i) => (one ? [i] : []));

/** A token as it stands on an axis. */
export const axisLabel = (tokens, i) =>
  (tokens.marked?.[i] ? MARK : "") + tieMark(tokens, i) + tokens.label[i];

/**
 * Text from right to left with its direction isolated (U+2068 to U+2069), so that what follows it
 * in a sentence, such as a number, stays behind it.
 */
const isolate = (text) =>
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u.test(text) ? `\u2068${text}\u2069` : text;

/** A token in words: T4 of a folded axis is turn 4. */
export const spokenLabel = (tokens, i) => isolate(tieMark(tokens, i) + tokens.name[i]);

/** Width of the widest label; the chosen one is bold (700). */
export function widestLabel(ctx, tokens, theme, weight = 400) {
  return Math.max(
    0,
    ...tokens.label.map((label, i) => {
      ctx.font = font(theme, labelSize(label), weight);
      return ctx.measureText(axisLabel(tokens, i)).width;
    }),
  );
}

/**
 * A label that never leans: a single character of ordinary width.  Those of several lean, in
 * Chinese too.
 */
export function isUpright(ctx, tokens, i, theme) {
  if (!UPRIGHT.has(tokens)) UPRIGHT.set(tokens, []);
  return (UPRIGHT.get(tokens)[i] ??= standsUpright(ctx, tokens, i, theme));
}

function standsUpright(ctx, tokens, i, theme) {
  ctx.font = font(theme, 13);
  return (
    isSingleCharacter(axisLabel(tokens, i)) &&
    (isWide(tokens.label[i]) || ctx.measureText(tokens.label[i]).width < 20)
  );
}

/**
 * Labels lie flat when each is narrower than its column, else they lean at 45 degrees: never more.
 */
export function labelsLean(ctx, tokens, pitch, theme) {
  ctx.font = font(theme, 13);
  return (
    !liesFlat(tokens) &&
    tokens.label.some(
      (_, i) =>
        !isUpright(ctx, tokens, i, theme) &&
        ctx.measureText(axisLabel(tokens, i)).width > pitch - 4,
    )
  );
}

/**
 * In how many lines labels stand: characters too near for one take two in turns, as far as that
 * makes room for all.
 */
export function countLabelLines(ctx, tokens, pitch, theme) {
  const narrow = !liesFlat(tokens) && pitch < LABEL_PITCH && pitch >= LABEL_PITCH / 2;
  return narrow &&
    tokens.label.every((_, i) => tokens.special[i] || isUpright(ctx, tokens, i, theme))
    ? 2
    : 1;
}

/** The line of a label where there are two: each text begins in the near one. */
export const labelLine = (tokens, i) => (i - tokens.text.indexOf(tokens.text[i])) % 2;
