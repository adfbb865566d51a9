"""The case book as a file: taken away, and taken in."""

from __future__ import annotations

from datetime import date
from io import BytesIO

import streamlit as st

from pages.shared import save_case
from pages.shared.errors import report_errors
from triattn_core.case_book import CaseBook
from triattn_core.errors import CaseError, DataError
from triattn_core.text.rows import each_line


def show_buttons(book: CaseBook | None = None) -> None:
    """The buttons Export, where there is a book, and Import."""
    if book is not None:
        save = {"key": "export-book", "on_click": "ignore", "width": 100}
        name = f"case-book-{date.today()}.jsonl"
        st.download_button("Export", lambda: "".join(book.lines()).encode(), name, "application/jsonl", **save)
    with st.popover("Import", width=100, key="import"):
        limit = st.get_option("server.maxUploadSize")
        given = st.file_uploader(f"A file written by Export or triattn book export; up to {limit} MB", key="book-file")
        if given is not None and st.session_state.get("taken in") != given.file_id:
            st.session_state.pop("import said", None)
            with report_errors(stop=False):
                new, same = _take_in(given.name, given.getvalue())
                st.session_state["taken in"] = given.file_id
                st.session_state["import said"] = f"{given.name}: {new:,} new, {same:,} were here already."
                st.rerun()
        if message := st.session_state.get("import said"):
            st.caption(message)


def _take_in(name: str, content: bytes) -> tuple[int, int]:
    """How many cases are new, and how many were here.  Raises CaseError or DataError: then nothing is taken in."""
    rows = []
    for line, row in each_line(BytesIO(content), name):
        if isinstance(row, DataError):
            raise row
        rows.append((f"{name}:{line}", row))
    if not rows:
        raise CaseError(f"{name}: no case in it")
    return save_case.book().load(rows)
