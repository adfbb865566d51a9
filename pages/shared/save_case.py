"""A case is kept from any page, in the book that the command line and notebooks write too."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import streamlit as st

from pages.shared import deep_links
from pages.shared.errors import escape_markdown, report_errors
from triattn_core.case_book import LONGEST, Case, CaseBook, place, texts


def book_exists() -> bool:
    """Whether anybody has kept a case: without one no file is made.  A team's database is there."""
    where = place()
    return isinstance(where, str) or where.is_file()


def book() -> CaseBook:
    """The case book, made where there is none.  Raises CaseError."""
    where = place()
    return _open(where if isinstance(where, str) else str(where.resolve()), book_exists())


@st.cache_resource(max_entries=4, show_spinner=False)
def _open(path: str, exists: bool) -> CaseBook:
    return CaseBook(path)


def form(task: str, row: Mapping, page: str, query: deep_links.Query | None = None) -> None:
    """Shows note, tags, and the saved cases of the same row.

    row: of the task's file format, as `TASKS[task].row(example)` gives it.  page: that the case opens on, by its file:
    "cube" or "side_by_side".  query: the parameters of its URL; by default those of the URL now.
    """
    if query is None:
        query = {name: st.query_params.get_all(name) for name in st.query_params}
    with report_errors(stop=False):
        saved_cases = book().of(task, row) if book_exists() else []
        key = sha256("\0".join([task, *texts(dict(row))]).encode()).hexdigest()[:12]
        note = st.text_area("Note", key=f"note-{key}", height=76, max_chars=LONGEST, placeholder="What is to be seen")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            tag_options = book().tags() if book_exists() else []
            tags = st.multiselect(
                "Tags", tag_options, key=f"tags-{key}", accept_new_options=True, placeholder="verb, name"
            )
            if st.button("Keep again" if saved_cases else "Keep", key=f"keep-{key}", width=100):
                with report_errors(stop=False):
                    saved_cases = [
                        book().keep(Case(task, dict(row), note, tuple(tags), page, deep_links.format_query(query))),
                        *saved_cases,
                    ]
    for case in saved_cases[:3]:
        _show_saved(case)


def _show_saved(case: Case) -> None:
    summary = " ".join(case.note.split())[:60] or ", ".join(case.tags) or "without a note"
    label = f"Kept {case.created[:10]}: {escape_markdown(summary)}"
    st.page_link("pages/case_book/page.py", label=label, query_params={"case": case.id})
