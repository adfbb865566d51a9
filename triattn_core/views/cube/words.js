// The chosen cell in words: its tokens, and the texts with these marked.

import { make, markSpans } from "../lib/elements.js";

/** All pieces of the word that piece i belongs to, as [first, last]. */
function wholeWord(tokens, i) {
  let first = i;
  let last = i;
  while (tokens.joined[first] && first > 0) first--;
  while (tokens.joined[last + 1]) last++;
  return [first, last];
}

/** A word with the chosen piece in full ink and the rest of its word pale: brows|ers. */
export function wordNodes(tokens, i) {
  const [first, last] = wholeWord(tokens, i);
  const pale = (from, to) => tokens.name.slice(from, to).join("");
  const before = pale(first, i);
  const after = pale(i + 1, last + 1);
  return [
    ...(before ? [make("i", {}, before)] : []),
    tokens.name[i],
    ...(after ? [make("i", {}, after)] : []),
  ];
}

/** The text with the tokens of the chosen cell marked. */
export function markedText(payload, name, cell) {
  const chosen = payload.order
    .map((axis, a) => ({ axis, tokens: payload.axes[axis], i: cell[a] }))
    .filter(({ tokens, i }) => tokens.text[i] === name);
  return markSpans(
    payload.texts[name],
    chosen.map(({ axis, tokens, i }) => ({ axis, start: tokens.start[i], end: tokens.end[i] })),
  );
}

/** How far down a text its first token stands: of a long passage a model reads a part. */
export function firstReadOffset(span, payload) {
  const starts = payload.order.flatMap((axis) =>
    payload.axes[axis].start.filter((_, i) => payload.axes[axis].text[i] === span.dataset.text),
  );
  if (!starts.length || !span.firstChild) return 0;
  const range = document.createRange();
  range.setStart(span.firstChild, Math.min(...starts));
  return range.getBoundingClientRect().top - span.getBoundingClientRect().top + span.scrollTop;
}
