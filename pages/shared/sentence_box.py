"""The box of a sentence: as many lines as its text needs, and Enter takes what was typed."""

from __future__ import annotations

import streamlit as st

CSS = """
:is(.st-key-pair, .st-key-pair-edited) > :has(textarea) {align-self: flex-start}
:is(.st-key-pair, .st-key-pair-edited) textarea {font-size: 16px; line-height: 22px; padding: 6px 11px;
  min-height: 34px; max-height: 278px; resize: none}
.st-key-pair > :is(.st-key-text, .st-key-source, .st-key-premise, .st-key-hypothesis) textarea {max-height: 124px}
@media (min-width: 1200px) {
  :is(.st-key-pair, .st-key-pair-edited) textarea:not(:focus) {max-height: 124px}
}
:is(.st-key-pair, .st-key-pair-edited) [data-testid="InputInstructions"] {display: none}
.stTextArea:is(.st-key-pair *, .st-key-pair-edited *), .st-key-asked .stTextInput {position: relative}
:is(.stTextArea:is(.st-key-pair *, .st-key-pair-edited *), .st-key-asked .stTextInput) > label {
  position: absolute; left: 12px; top: 8px; z-index: 1; margin: 0; pointer-events: none}
:is(.stTextArea:is(.st-key-pair *, .st-key-pair-edited *), .st-key-asked .stTextInput) > label p {
  color: var(--t-muted); white-space: nowrap}
:is(.st-key-a, .st-key-b, .st-key-a2, .st-key-b2) > .stTextArea > label p {font-size: 0}
:is(.st-key-a, .st-key-a2) > .stTextArea > label p::before {content: "A"; font-size: 13px}
:is(.st-key-b, .st-key-b2) > .stTextArea > label p::before {content: "B"; font-size: 13px}
.st-key-a2 > .stTextArea > label p::before {content: "A′"}
.st-key-b2 > .stTextArea > label p::before {content: "B′"}
:is(.st-key-a, .st-key-b, .st-key-a2, .st-key-b2) textarea {padding-left: 32px}
.st-key-asked .stTextInput input {padding-left: 84px}
.st-key-pair .stTextArea:not(:is(.st-key-a, .st-key-b, .st-key-a2, .st-key-b2) *) textarea {padding-left: 92px}
.st-key-pair .st-key-language [data-testid="stWidgetLabel"] {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)}
@supports (field-sizing: content) {
  :is(.st-key-pair, .st-key-pair-edited) textarea {field-sizing: content; height: auto !important}
}
"""
# A text area of Streamlit takes what was typed with Ctrl+Enter, and Enter begins a line: a sentence has one.
_SCRIPT = """
const BOXES = ".st-key-pair textarea, .st-key-pair-edited textarea";
export default function () {
  if (window.triattnSentences) return;
  window.triattnSentences = true;
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (!event.target.matches?.(BOXES)) return;
    event.preventDefault();
    event.stopPropagation();
    const key = { key: "Enter", code: "Enter", keyCode: 13, ctrlKey: true, bubbles: true, cancelable: true };
    event.target.dispatchEvent(new KeyboardEvent("keydown", key));
  }, true);
}
"""
_enter = st.components.v2.component("triattn_sentence_enter", html="<i></i>", js=_SCRIPT)


def letters(*which: str) -> str:
    """The style that puts other letters than A and B before what is typed in the two boxes; none where it is empty."""
    rules = []
    for key, letter in zip("ab", which):
        box = f".st-key-pair > .st-key-{key} > .stTextArea"
        rules.append(f'{box} > label p::before {{content: "{letter}"}}')
        if not letter:
            rules.append(f"{box} textarea {{padding-left: 11px}}")
    return "\n".join(rules)


def listen() -> None:
    """Once on every page: what Enter does in these boxes.  They stand in a container `pair` or `pair-edited`."""
    _enter(key="sentence-enter")


def box(label: str, opens: str | None, key: str, **options) -> str:
    """Shows the box; its text is in the URL under its key.  opens: the default text, None if it is in the session
    state."""
    initial = {} if opens is None else {"value": opens}
    return st.text_area(label, **initial, key=key, height="content", bind="query-params", **options) or ""
