// The part of a text that a model does not read: pale, and named on hover.

import { make } from "./elements.js";
import { formatCount } from "./numbers.js";

const SHOWN = 120; // characters of an unread end, where a text stands in a small box

/** A part that is not read, as elements: none for an empty one. */
export const unreadPart = (text) =>
  text ? [make("span", { class: "mute", title: "not read" }, text)] : [];

/** The end of a text that is not read: its first words, and how many characters follow them. */
export function unreadEnd(text) {
  const letters = [...text];
  if (!text.trim() || letters.length <= 2 * SHOWN) return unreadPart(text.trim() ? text : "");
  const shown = letters.slice(0, SHOWN).join("");
  const space = shown.search(/\s\S*$/u); // none in Chinese
  const head = space > 0 ? shown.slice(0, space) : shown;
  const rest = letters.length - [...head].length;
  return [
    ...unreadPart(`${head} … `),
    make(
      "span",
      { class: "mute", title: text },
      `(${formatCount(rest)} more characters, not read)`,
    ),
  ];
}
