// Text as elements.  Whatever a user typed is only ever text, never read as HTML.

const LONG_MARK = 24; // characters: more are not set in bold

/**
 * "zh" for Chinese characters without kana or hangul: it decides which shapes a font gives them.
 */
const languageOf = (text) =>
  /\p{sc=Han}/u.test(text) && !/[\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(text)
    ? "zh"
    : "";

/** Says in which language an element's text is, as far as it is Chinese. */
export function setLanguage(element, text) {
  languageOf(text)
    ? element.setAttribute("lang", languageOf(text))
    : element.removeAttribute("lang");
  return element;
}

/** A DOM element whose children and text are only ever text. */
export function make(tag, attributes = {}, ...children) {
  const element = setLanguage(
    document.createElement(tag),
    children.filter((child) => !(child instanceof Node)).join(""),
  );
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** An element of a drawing. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** What a screen reader hears of a figure of maps: its sentence, its texts, its keys. */
export const describeMaps = (payload) =>
  `${payload.alt} Of: ${Object.values(payload.texts).join(" / ").slice(0, 300)}. Arrow keys move the chosen cell, n and p go through the strongest; its numbers follow as text.`;

/**
 * A text with spans marked, `{start, end, axis}`; where they overlap, a piece wears the colours of
 * all of them.  Behind a span stands its `share`, where it has one, of which `help` says what it
 * is.  Offsets count characters, not UTF-16 units: an emoji is one.
 */
export function markSpans(text, spans) {
  const letters = [...text];
  const real = spans.filter((span) => span.end > span.start);
  const cuts = [
    ...new Set([0, letters.length, ...real.flatMap(({ start, end }) => [start, end])]),
  ].sort((a, b) => a - b);
  return cuts.slice(1).flatMap((end, i) => {
    const piece = letters.slice(cuts[i], end).join("");
    const over = real.filter((span) => span.start <= cuts[i] && span.end >= end);
    const axes = over.map((span) => span.axis);
    const long = over.every((span) => span.end - span.start > LONG_MARK);
    if (!axes.length) return piece;
    const look = [...axes, ...(long ? ["long"] : [])].join(" ");
    const shares = over
      .filter((span) => span.share && span.end === end)
      .map(({ axis, help, share }) => make("small", { class: axis, title: help }, share));
    return [make("mark", { class: look, title: axes.join(" and ") }, piece), ...shares];
  });
}
