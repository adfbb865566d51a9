"""The texts of a case as the user knows them, short: two sentences, the end of a dialogue, a passage's start."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.views.lib.tokens import text_names

LONG, TURNS, OPTIONS = 320, 3, 6  # characters of a text, turns and options that are shown
WIDE = 5  # characters of a text's name that its usual column holds


def html(task: str, example: Any) -> None:
    """Draws them; what is left out is said."""
    long = form(task) is not InputForm.PAIR
    lines = [_line(mark, text, long) for mark, text in _labelled_texts(task, example)]
    st.html("".join(lines))


def _labelled_texts(task: str, example: Any) -> list[tuple[str, str]]:
    """Labels and texts of an example."""
    if form(task) is InputForm.PAIR:
        return [("A", example.text_a), ("B", example.text_b)]
    if not TASKS[task].FORM.joint:
        return [(name, text) for name, text in TASKS[task].texts(example).items()]
    texts = dict(list(TASKS[task].texts(example).items())[:-1])  # the last one is the option
    names = text_names(texts)
    turns = [(names[name]["short"], text) for name, text in texts.items()]
    first = max(0, len(turns) - TURNS)
    before = [("", f"{first} earlier {TASKS[task].WORDS.sides[0]}{'s' * (first > 1)}")] if first else []
    return before + turns[first:] + _options(TASKS[task].options(example), example.label, TASKS[task].labels(example))


def _options(options: tuple[str, ...], label: int | None, names: Sequence[str]) -> list[tuple[str, str]]:
    """Labels and texts of the options, the right one first."""
    if len(options) == 1:
        return [({0: "false", 1: "true"}.get(label, "?"), options[0])]
    marks = [name.rpartition(" ")[2] for name in names]
    order = sorted(range(len(options)), key=lambda i: i != label)
    lines = [(marks[i] + " ✓" * (i == label), options[i]) for i in order[:OPTIONS]]
    num_more = len(options) - OPTIONS
    return lines + ([("", f"and {num_more} more")] if num_more > 0 else [])


def _line(mark: str, text: str, small: bool) -> str:
    excerpt = text if len(text) <= LONG else f"{text[:LONG]}… ({len(text):,} characters)"
    css_class = "t-case" + " t-small" * small + " t-wide" * (len(mark) > WIDE)
    muted = "" if mark else ' class="t-muted"'
    text = f'<span dir="auto"{muted}>{escape(excerpt)}</span>'
    return f'<p class="{css_class}"><span class="t-muted">{mark}</span>{text}</p>'
