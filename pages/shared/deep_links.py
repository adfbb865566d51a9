"""An example opened on another page by a link: its texts in the URL, or, where they are too long for one, by a button
that hands them over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode

import streamlit as st

from pages.shared import choice_input, task_picker, word_input
from pages.shared.navigation import TITLES
from triattn_core.tasks import ENCODED, TASKS, InputForm, form

PAGES = {
    name: f"Open in {TITLES[name]}" for name in ("context", "intervene", "attribute", "mtsa", "coin", "similarity")
}
PAGES |= {"side_by_side": "Open side by side", "cube": "Open as cube", "tensor": "Open the tensor"}
OPENED = "opened file or model"  # in the case book: no task of ours, a trace that is kept on this machine
ALONE = {name for task in ENCODED.values() for name in task.TEXTS}
TEXTS = {
    "a",
    "b",
    *ALONE,
    word_input.KEY,
    "example",
    *(part for parts in choice_input.PARTS.values() for part in parts),
}
Query = Mapping[str, str | Sequence[str]]


def link(task: str, row: Mapping, page: str, query: Query) -> None:
    """The link that opens a row on one page; see `links`."""
    links(task, row, {page: query})


def links(task: str, row: Mapping, queries: Mapping[str, Query]) -> None:
    """The links that open a row of a task's file format on pages ("side_by_side", "cube").

    queries: by page, what else stands in the URL there; what it says of texts gives way to those of the row.
    """
    texts = parameters(task, row)
    fits = len(urlencode(texts)) <= choice_input.LINK or form(task) is InputForm.PAIR or _has_text_parameters(task)
    named = {task_picker.KEY: task_picker.TASKS[task].label} if task in task_picker.TASKS else {}
    for page, query in queries.items():
        settings = {name: value for name, value in query.items() if name not in TEXTS} | named
        if fits:
            st.page_link(f"pages/{page}/page.py", label=PAGES[page], query_params={**settings, **texts})
        elif st.button(PAGES[page], key=f"open-{page}", type="tertiary"):
            st.session_state["choice-input"] = choice_input.ChoiceInput(task, texts)
            st.switch_page(f"pages/{page}/page.py", query_params=settings)


def default_page(task: str) -> str:
    """The page that a row of a task opens on where it names none."""
    if form(task) is InputForm.PASSAGE:
        return "similarity"
    return "mtsa" if _has_text_parameters(task) else "side_by_side"


def _has_text_parameters(task: str) -> bool:
    """Whether its texts are short and each a parameter of its own."""
    return form(task) in (InputForm.SENTENCES, InputForm.WORDS, InputForm.TRANSLATION)


def parameters(task: str, row: Mapping) -> dict[str, str]:
    """The URL parameters of a row: its texts, or the name of one of the project's examples."""
    example = TASKS[task].Example.from_row(dict(row))
    if form(task) is InputForm.PAIR:
        return {"a": example.text_a, "b": example.text_b}
    if form(task) is InputForm.WORDS:
        return {**TASKS[task].texts(example), word_input.KEY: str(example.predicate + 1)}
    if _has_text_parameters(task):
        return TASKS[task].texts(example)
    texts = TASKS[task].parts(example)
    match = next((example for example in TASKS[task].examples() if TASKS[task].parts(example) == texts), None)
    return {"example": match.id} if match else texts


def parse_query(query: str) -> dict[str, list[str]]:
    """A stored query: `layer=1&checkpoints=a&checkpoints=b`."""
    return parse_qs(query)


def format_query(query: Query) -> str:
    """A query to be stored."""
    return urlencode({name: value for name, value in query.items() if value not in ("", [])}, doseq=True)
