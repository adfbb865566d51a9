// Axes of canvas figures: tokens laid out along a line, and their labels.
// tokens: {label[], joined[], text[], …}, as `tokens` of tokens.py writes them.  A gap stands wherever the text changes.

const gapsOf = (tokens) => sum(tokens.text.map((text, i) => (i && text !== tokens.text[i - 1] ? 1 : 0)));

/** Positions of the cells of an axis: at[i] is the near edge of cell i, `pitch` its width, `size` the whole. */
function layoutAxis(tokens, pitch, gap = 6) {
  let edge = 0;
  const at = tokens.label.map((_, i) => {
    if (i) edge += pitch + (tokens.text[i] !== tokens.text[i - 1] ? gap : 0);
    return edge;
  });
  return { at, pitch, size: at.length ? edge + pitch : 0, line: pitch >= 7 ? 1 : 0 };
}

/** The cell under a coordinate, or -1. */
function cellAt(layout, x) {
  for (let i = 0; i < layout.at.length; i++) if (x >= layout.at[i] && x < layout.at[i] + layout.pitch) return i;
  return -1;
}

const isWide = (label) => /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff00-\uff60]+$/u.test(label);
const isLetter = (label) => label.length === 1 || [...new Intl.Segmenter().segment(label)].length === 1;
const NEED = 12.5, STEP = 14; // pixels between labels that stand, and between two lines of them
const sizeOf = (label) => (isWide(label) ? 15.5 : 13);
const tied = (tokens, i) => (tokens.joined[i] ? "-" : "");
const shown = (tokens, i) => tied(tokens, i) + tokens.label[i]; // on an axis
const spoken = (tokens, i) => tied(tokens, i) + tokens.name[i]; // in words: of a folded axis T4 is turn 4

/** A label cut to `room` pixels with an ellipsis. */
function fitText(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let letters = [...text];
  while (letters.length > 1 && ctx.measureText(letters.join("") + "…").width > room) letters.pop();
  return letters.join("") + "…";
}

/** Words at a place, cut to `room`; returns how wide they are. */
function text(ctx, words, x, y, colour, { size = 13, weight = 400, align = "left", theme, room = Infinity }) {
  ctx.font = font(theme, size, weight);
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.textBaseline = "alphabetic";
  const fitted = room === Infinity ? words : fitText(ctx, words, room);
  ctx.fillText(fitted, x, y);
  return ctx.measureText(fitted).width;
}

/** Width of the widest label. */
function widest(ctx, tokens, theme) {
  return Math.max(0, ...tokens.label.map((label, i) => {
    ctx.font = font(theme, sizeOf(label), 400);
    return ctx.measureText(shown(tokens, i)).width;
  }));
}

/** Which labels are drawn when they do not all fit: those of `always`, then by weight, none nearer than `need`. */
function thinned(layout, need, always = [], weights = null) {
  const every = layout.at.map((_, i) => i);
  if (layout.pitch >= need) return new Set(every);
  const order = [...always.filter((i) => i >= 0), ...(weights ? every.sort((a, b) => weights[b] - weights[a]) : every)];
  const kept = [];
  for (const i of order) if (kept.every((j) => Math.abs(layout.at[i] - layout.at[j]) >= need)) kept.push(i);
  return new Set(kept);
}

/** A label that never leans: a single character of ordinary width.  Those of several lean, in Chinese too. */
function stands(ctx, tokens, i, theme) {
  ctx.font = font(theme, 13);
  return isLetter(shown(tokens, i)) && (isWide(tokens.label[i]) || ctx.measureText(tokens.label[i]).width < 20);
}

/** Labels lie flat when each is narrower than its column, else they lean at 45 degrees: never more. */
function leans(ctx, tokens, pitch, theme) {
  return !tokens.flat && tokens.label.some((_, i) => !stands(ctx, tokens, i, theme) && ctx.measureText(shown(tokens, i)).width > pitch - 4);
}

/** In how many lines labels stand: characters too near for one take two in turns, as far as that makes room for all. */
function linesOf(ctx, tokens, pitch, theme) {
  const narrow = !tokens.flat && pitch < NEED && pitch >= NEED / 2;
  return narrow && tokens.label.every((_, i) => tokens.special[i] || stands(ctx, tokens, i, theme)) ? 2 : 1;
}

/** The line of a label where there are two: each text begins in the near one. */
const lineOf = (tokens, i) => (i - tokens.text.indexOf(tokens.text[i])) % 2;

function paintLabel(ctx, tokens, i, theme, { chosen, colour, room, pitch = 20 }) {
  const label = shown(tokens, i);
  ctx.font = font(theme, isWide(label) ? clamp(pitch - 1.5, 12, 15.5) : pitch < 15 ? 12 : 13, i === chosen ? 700 : 400);
  ctx.fillStyle = i === chosen ? colour : tokens.special[i] ? theme.muted : theme.text;
  return fitText(ctx, label, room);
}

/** Row labels, right-aligned at x.  options: {chosen, colour, hover, weights, room} */
function rowLabels(ctx, layout, tokens, x, y, theme, options) {
  const lines = linesOf(ctx, tokens, layout.pitch, theme);
  const visible = thinned(layout, NEED / lines, [options.chosen, options.hover ?? -1], options.weights);
  for (const i of visible) {
    const label = paintLabel(ctx, tokens, i, theme, { ...options, pitch: layout.pitch });
    ctx.textAlign = lines > 1 ? "center" : "right";
    ctx.textBaseline = "middle";
    ctx.fillText(label, lines > 1 ? x - STEP * (1 + lineOf(tokens, i)) : x - 8, y + layout.at[i] + layout.pitch / 2 + 0.5);
  }
  if (layout.pitch >= 15) ties(tokens, (i, n) => ctx.fillRect(x - 4, y + layout.at[i] + 4, 1.5, layout.at[n] - layout.at[i] + layout.pitch - 8), ctx, theme);
}

/** Column labels standing on y.  Leaning ones turn by 45 degrees about their foot. */
function columnLabels(ctx, layout, tokens, x, y, theme, options) {
  const leaning = leans(ctx, tokens, layout.pitch, theme), lines = linesOf(ctx, tokens, layout.pitch, theme);
  const upright = tokens.label.map((_, i) => stands(ctx, tokens, i, theme)), all = upright.every((one, i) => one || tokens.special[i]);
  const visible = thinned(layout, tokens.flat ? widest(ctx, tokens, theme) + 5 : all ? NEED / lines : leaning ? 15.5 : 13, [options.chosen, options.hover ?? -1], options.weights);
  for (const i of visible) {
    const lean = leaning && !upright[i], label = paintLabel(ctx, tokens, i, theme, { ...options, room: lean ? options.room : Infinity, pitch: layout.pitch });
    ctx.textBaseline = lean ? "middle" : "alphabetic";
    ctx.textAlign = lean ? "left" : "center";
    ctx.save();
    const lift = lean ? (upright.includes(true) ? 20 : 10) + STEP * (lines - 1) : 9 + STEP * (lines > 1 ? lineOf(tokens, i) : 0);
    ctx.translate(x + layout.at[i] + layout.pitch / 2, y - lift);
    if (lean) ctx.rotate(-Math.PI / 4);
    ctx.fillText(label, 0, 0);
    ctx.restore();
  }
  if (layout.pitch >= 15) ties(tokens, (i, n) => ctx.fillRect(x + layout.at[i] + 4, y - 4, layout.at[n] - layout.at[i] + layout.pitch - 8, 1.5), ctx, theme);
}

/** Calls `paint(first, last)` for each word made of several pieces: a thin line ties them together. */
function ties(tokens, paint, ctx, theme) {
  ctx.fillStyle = theme.muted;
  for (let i = 0; i < tokens.label.length; i++) {
    let last = i;
    while (tokens.joined[last + 1]) last++;
    if (last > i) paint(i, last);
    i = last;
  }
}
