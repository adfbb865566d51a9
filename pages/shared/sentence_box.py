"""The box of a sentence: as many lines as its text needs, and Enter takes what was typed."""

from __future__ import annotations

import streamlit as st

CSS = """
:is(.st-key-pair, .st-key-pair-edited) > :has(textarea) {align-self: flex-start}
:is(.st-key-pair, .st-key-pair-edited) textarea {font-size: 16px; line-height: 22px; padding: 6px 11px;
  min-height: 34px; max-height: 278px; resize: none}
:is(.st-key-pair, .st-key-pair-edited) [data-testid="InputInstructions"] {display: none}
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


def listen() -> None:
    """Once on every page: what Enter does in these boxes.  They stand in a container `pair` or `pair-edited`."""
    _enter(key="sentence-enter")


def box(label: str, opens: str | None, key: str, **options) -> str:
    """Shows the box; its text is in the URL under its key.  opens: the default text, None if it is in the session
    state."""
    initial = {} if opens is None else {"value": opens}
    return st.text_area(label, **initial, key=key, height="content", bind="query-params", **options) or ""
