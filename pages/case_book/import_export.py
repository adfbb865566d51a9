"""Export and import of the case book as a file."""

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
        upload = st.file_uploader(f"A file written by Export or triattn book export; up to {limit} MB", key="book-file")
        if upload is not None and st.session_state.get("imported-file") != upload.file_id:
            st.session_state.pop("import-message", None)
            with report_errors(stop=False):
                num_new, num_existing = _take_in(upload.name, upload.getvalue())
                st.session_state["imported-file"] = upload.file_id
                st.session_state["import-message"] = (
                    f"{upload.name}: {num_new:,} new, {num_existing:,} were here already."
                )
                st.rerun()
        if message := st.session_state.get("import-message"):
            st.caption(message)


def _take_in(name: str, content: bytes) -> tuple[int, int]:
    """Imports a file; returns how many cases are new, and how many existed.  Raises CaseError or DataError: then
    nothing is imported."""
    rows = []
    for line, row in each_line(BytesIO(content), name):
        if isinstance(row, DataError):
            raise row
        rows.append((f"{name}:{line}", row))
    if not rows:
        raise CaseError(f"{name}: no case in it")
    return save_case.book().load(rows)
