"""What is carried from page to page through the menu: texts, task, language and checkpoints of the page that was left.

A link says more: what it names counts.  Passages and dialogues are carried by `choice_input`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.shared import url_state
from triattn_core.checkpoint.registry import Entry

HELD = "carried"


def _carried() -> dict:
    return st.session_state.setdefault(HELD, {"texts": {}, "language": "", "task": "", "one": "", "several": []})


def carry_input(**values: str | Sequence[str] | Mapping[str, str]) -> None:
    """Stores texts, language, task, `one` checkpoint or `several` for the next page."""
    carried = _carried()
    if "texts" in values:
        carried["texts"] |= values.pop("texts")
    carried |= values


def text(name: str, opens: str) -> None:
    """Before the box of a text is made: what stood in it on the page before.  opens: what the URL leaves out."""
    value = _carried()["texts"].get(name)
    if value is not None and url_state.is_first_run() and not _is_in_url(name):
        url_state.carry(name, value, None if value == opens else value)


def language() -> str:
    """That of the page before, as a code; empty where a link or nothing says one."""
    linked = _is_in_url("language", "checkpoint", "checkpoints")
    return _carried()["language"] if url_state.is_first_run() and not linked else ""


def task() -> str:
    """That of the page before; empty where a link or nothing says one."""
    return (
        _carried()["task"] if url_state.is_first_run() and not _is_in_url("task", "checkpoint", "checkpoints") else ""
    )


def choose_one(entries: Sequence[Entry], key: str) -> None:
    """Presets the checkpoint picker to the checkpoint of the previous page, if it is an option here."""
    if url_state.is_first_run() and not _is_in_url(key):
        names = [_carried()["one"], *_carried()["several"]]
        by_name = {entry.name: entry for entry in entries}
        if name := next((name for name in names if name in by_name), None):
            url_state.forget(key)  # counts as seen now
            st.session_state[key] = by_name[name]


def choose_several(entries: Sequence[Entry], preset: Sequence[str]) -> list[str]:
    """The set of checkpoints that contains the one of the previous page: the last selection, else its preset; empty
    if there is none."""
    if not url_state.is_first_run() or _is_in_url("checkpoints"):
        return []
    carried, names_here = _carried(), {entry.name for entry in entries}
    sets = [names for names in (carried["several"], list(preset)) if names and set(names) <= names_here]
    return next((names for names in sets if not carried["one"] or carried["one"] in names), [])


def checkpoint() -> str:
    """The checkpoint of the last page that shows one."""
    return _carried()["one"]


def _is_in_url(*names: str) -> bool:
    """Whether the URL says one of these."""
    return any(name in st.query_params for name in names)
