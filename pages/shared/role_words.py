"""The words of a sentence, each a button, with coloured spans for the arguments that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

_STYLE = """
.line {display: flex; flex-wrap: wrap; align-items: flex-start; gap: 6px 4px; padding: 2px 0; position: relative;
  max-height: 186px; overflow-y: auto;
  font: 400 16px/1.35 var(--st-font); color: var(--st-text-color)}
.span {display: inline-flex; flex-direction: column; border-bottom: 3px solid var(--role); border-radius: 3px 3px 0 0;
  background: color-mix(in srgb, var(--role) 16%, transparent); max-width: 100%}
.words {display: flex; flex-wrap: wrap}
.span small {font-size: 12px; line-height: 1.3; padding: 0 5px 2px; color: var(--st-text-color)}
.span small > span {color: var(--t-muted); margin-left: 5px; font-variant-numeric: tabular-nums}
button {font: inherit; color: inherit; background: none; border: 0; border-radius: 3px; padding: 2px 4px;
  cursor: pointer; overflow-wrap: anywhere}
button:hover {text-decoration: underline}
button:focus-visible {outline: 2px solid var(--st-primary-color); outline-offset: -1px}
button[aria-pressed="true"] {font-weight: 700; box-shadow: inset 0 0 0 2px var(--role, currentColor)}
"""
_SCRIPT = """
const make = (name, properties) => Object.assign(document.createElement(name), properties);
export default function ({ data, parentElement, setTriggerValue }) {
  const line = parentElement.querySelector(".line");
  line.replaceChildren();
  line.setAttribute("role", "group");
  line.dir = "auto";
  line.setAttribute("aria-label", data.label);
  const buttons = [];
  let home = line;
  data.words.forEach((word, i) => {
    if (word.begins) {
      const span = make("span", { className: "span", title: word.title });
      span.style.setProperty("--role", `var(--t-${word.colour})`);
      home = make("span", { className: "words" });
      const label = make("small", { textContent: word.role });
      label.append(make("span", { textContent: word.sure }));
      span.append(home, label);
      line.append(span);
    } else if (!word.role) home = line;
    const button = make("button", { type: "button", textContent: word.text, tabIndex: i === data.first ? 0 : -1 });
    button.setAttribute("aria-pressed", i === data.predicate);
    button.onclick = () => setTriggerValue("word", i);
    buttons.push(button);
    home.append(button);
  });
  const chosen = buttons[data.predicate]; // of a long sentence the lines around it
  line.scrollTop = chosen ? chosen.getBoundingClientRect().top - line.getBoundingClientRect().top - 80 : 0;
  line.onkeydown = (event) => {
    const at = buttons.indexOf(event.target);
    const right = getComputedStyle(line).direction === "rtl" ? -1 : 1;
    const step = { ArrowRight: right, ArrowLeft: -right, Home: -at, End: buttons.length - 1 - at }[event.key];
    if (at < 0 || step === undefined) return;
    event.preventDefault();
    const to = buttons[Math.min(buttons.length - 1, Math.max(0, at + step))];
    buttons[at].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
}
"""
_words = st.components.v2.component("triattn_role_words", html='<div class="line"></div>', css=_STYLE, js=_SCRIPT)


@dataclass(frozen=True)
class RoleWord:
    """A word, and the argument that it belongs to: its role, empty for none, and whether it begins it.

    title: what the role says; colour: its name in the palette; sure: its probability, as it is written.
    """

    text: str
    role: str = ""
    begins: bool = False
    title: str = ""
    colour: str = ""
    sure: str = ""


def show(words: Sequence[RoleWord], predicate: int | None, choose: Callable[[int], None], label: str = "") -> None:
    """Draws the words; a click on one calls `choose` with its index, then the page runs.

    predicate: the chosen word.  label: what the line shows, in words.
    """
    data = {
        "words": list(map(asdict, words)),
        "predicate": predicate,
        "first": predicate or 0,
        "label": label or "The words of the sentence: choose the predicate",
    }
    _words(key="role-words", data=data, on_word_change=lambda: _send(choose))


def _send(choose: Callable[[int], None]) -> None:
    word = st.session_state["role-words"].get("word")
    if word is not None:
        choose(int(word))
