"""Open in: the same example, under the same checkpoint, on the other pages that take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.shared import checkpoint_picker, deep_links, models
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import InputForm, form
from triattn_core.trace.axes import TAN_MECHANISMS

TAKES = {  # by page: the mechanisms of its checkpoints
    "cube": ("tri",),
    "side_by_side": checkpoint_picker.KINDS,
    "context": ("tri",),
    "intervene": tuple(TAN_MECHANISMS),
    "attribute": tuple(TAN_MECHANISMS),
    "coin": ("coin",),
    "mtsa": ("mtsa",),
    "tensor": ("mtsa",),
}


def menu(page: str, task: str, row: Mapping, entry: Entry) -> None:
    """Shows a button with a link to each other page that supports this task, if there is one.

    row: of the task's file format.  entry: the checkpoint that is shown, or the first of them.
    """
    language, entries = metadata.language(entry), models.entries(task)
    fits = [other for other in entries if metadata.language(other) == language]
    preset = checkpoint_picker.preset_of(entry)
    pages = [other for other in TAKES if other != page and (other != "tensor" or form(task) is InputForm.SENTENCES)]
    queries = {other: _checkpoints(other, entry, fits, preset) for other in pages}
    targets = {other: query for other, query in queries.items() if query}
    if not targets:
        return
    with st.popover("Open in", width=92, key="open-in"), st.container(width=220):
        deep_links.links(task, row, targets)


def _checkpoints(
    page: str, entry: Entry, entries: Sequence[Entry], preset: Sequence[str]
) -> dict[str, str | list[str]]:
    """The URL parameter with the page's checkpoints: this one, else one of its preset; empty if there is none.

    entries: of the task and the language.  preset: the names that go with this one.
    """
    fits = [other.name for other in metadata.of_mechanisms(entries, TAKES[page])]
    matches = [name for name in preset if name in fits]
    if page == "side_by_side":
        return {"checkpoints": matches or fits[:2]} if len(matches or fits) > 1 else {}
    names = [entry.name] * (entry.name in fits) + matches[-1:] + fits
    return {"checkpoint": names[0]} if names else {}
