// Texts as the user knows them, a chat or a passage.  What was typed is text, never HTML.

import { clamp, sum } from "../lib/arrays.js";
import { make, setLanguage } from "../lib/elements.js";
import { formatPercent } from "../lib/numbers.js";
import { unreadPart } from "../lib/unread.js";

const textShares = (texts) =>
  texts.map((text) => (text.runs.length ? sum(text.runs.map((run) => run.share)) : null));

/** A bar as long as its part of the longest, and the share as a number. */
function shareBar(share, most) {
  if (share === null) return make("span", { class: "share" });
  const bar = make("i");
  bar.style.width = 62 * (share / Math.max(most, 1e-9)) + "px";
  return make("span", { class: "share" }, bar, `${Number((100 * share).toPrecision(2))} %`);
}

function turnRow(text, i, share, most, role) {
  const looks = [
    "turn",
    ...(i % 2 ? ["even"] : []),
    ...(role ? ["asks", role] : []),
    ...(text.read ? [] : ["mute"]),
  ];
  const bubble = setLanguage(make("span", { class: "bubble", dir: "auto" }, text.text), text.text);
  const mark = make(
    "span",
    { class: "mark", title: text.read ? text.long : `${text.long}: not read` },
    text.short,
  );
  return make(
    "li",
    { class: looks.join(" ") },
    mark,
    make("span", { class: "who" }, text.who),
    bubble,
    shareBar(share, most),
  );
}

/** The passage, each sentence shaded by its share; what the model does not read is pale. */
function passageOf({ text, runs, begins, read }, most) {
  const letters = [...text];
  const out = [];
  const part = (from, to) => letters.slice(from, Math.max(from, to)).join("");
  const plain = (from, to) => {
    const first = clamp(begins, from, to);
    const last = clamp(read, first, to);
    out.push(...unreadPart(part(from, first)), part(first, last), ...unreadPart(part(last, to)));
  };
  let at = 0;
  for (const run of runs) {
    plain(at, run.start);
    const span = make(
      "span",
      { class: "run", title: `${run.name}: ${formatPercent(run.share)}` },
      letters.slice(run.start, run.end).join(""),
    );
    span.style.setProperty("--part", run.share / Math.max(most, 1e-9));
    out.push(span);
    at = run.end;
  }
  plain(at, letters.length);
  return setLanguage(make("div", { class: "passage", dir: "auto" }, ...out), text);
}

export function textsSide(payload) {
  const { texts, words, chat, roles } = payload;
  const shares = textShares(texts);
  const head = make("header", {}, make("b", {}, words.texts), make("span", {}, words.shares));
  const rest = make("p", { class: "rest" }, payload.rest);
  if (chat) {
    const most = Math.max(...shares);
    const last = texts.length - 1;
    const turns = texts.map((text, i) =>
      turnRow(text, i, shares[i], most, i === last ? roles[0] : ""),
    );
    return [
      head,
      make(
        "div",
        { class: "scroll", "data-scroll": "texts", tabindex: "0" },
        make("ol", {}, ...turns),
      ),
      rest,
    ];
  }
  const [first, ...asked] = texts;
  const inside = Math.max(...first.runs.map((run) => run.share), 0);
  const most = Math.max(inside, ...shares.slice(1).map((one) => one ?? 0));
  const below = asked.map((text, i) =>
    turnRow(text, 0, shares[i + 1], most, i === asked.length - 1 ? roles[0] : ""),
  );
  return [
    head,
    make(
      "div",
      { class: "scroll", "data-scroll": "texts", tabindex: "0", style: "max-height: 166px" },
      passageOf(first, inside),
    ),
    make("ol", { class: "question" }, ...below),
    rest,
  ];
}
