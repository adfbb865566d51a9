// The chosen cell in words: its tokens, the texts with these marked, one plain sentence.

import { make, markSpans } from "../lib/elements.js";
import { formatCount, formatNumber, formatPercent } from "../lib/numbers.js";

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

/** The full stop of a sentence that ends with a token, which may be one itself. */
const stop = (word) => (/[.!?。！？]$/.test(word) ? "" : ".");

export function sentenceNodes(payload, words, numbers, approximate, out) {
  const [query, key, third] = words.map((word, a) =>
    make("span", { class: "ink " + payload.order[a] }, word),
  );
  const about = approximate ? "about " : "";
  const light = payload.order[2] === "feature" ? " in feature " : " read with ";
  const rest = payload.over.includes(payload.order[2]) ? "pairs" : "keys";
  if (out && payload.order[2] === "feature")
    return [
      query,
      " may not attend to ",
      key,
      ": this head's mask leaves the pair out, in every feature.",
    ];
  if (out) return [query, " may not attend to ", key, " with ", third, ": a mask leaves it out."];
  if (payload.unnormalised && payload.quantity === "weight")
    return [
      query,
      ` gives ${about}${formatNumber(numbers.weight)} to `,
      key,
      light,
      third,
      "; the weights do not sum to one.",
    ];
  const attention = `${about}${formatPercent(numbers.weight)} of its attention to `;
  if (payload.quantity === "weight" && rest === "keys" && payload.order[2] === "context")
    return [query, " with ", third, ` gives ${attention}`, key, stop(words[1])];
  if (payload.quantity === "weight") {
    return [query, ` gives ${attention}`, key, light, third, stop(words[2])];
  }
  const side = numbers.relevance < 0 ? "below" : "above";
  return [
    "For ",
    query,
    ", ",
    key,
    light,
    third,
    ` scores ${about}${formatNumber(Math.abs(numbers.relevance))} ${side} the mean of its ${formatCount(numbers.of)} ${rest}.`,
  ];
}
