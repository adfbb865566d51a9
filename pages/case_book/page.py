"""Case book: what was kept, found by words, tags and task; note and tags to edit; and the way back to the case."""

from __future__ import annotations

import streamlit as st

from pages.case_book import book_list, case_editor, import_export, worked_cases
from pages.shared import case_style, save_case, style, url_state
from pages.shared.errors import report_errors

LEAD = (
    "Cases worth keeping, each with a note and tags, and the link that opens it as it was seen. The command "
    "<code>triattn book</code> and notebooks write the same book."
)

style.heading("Case book", LEAD)
case_style.inject_style()
if not save_case.book_exists():
    st.info(f"{book_list.NONE} Three examples of what a case is:")
    with report_errors():
        worked_cases.show()
        with st.container(horizontal=True):
            worked_cases.keep_button()
            import_export.show_buttons()
    st.stop()
with report_errors():
    book = save_case.book()
    cases, total = book_list.filter_cases(book)
    left, right = st.container(key="main").columns([1.7, 1], gap="medium")
    with left:
        open_case = book_list.show_list(cases, total)
    if open_case is not None:
        with right.container(key="aside"):
            url_state.steps("case", [case.id for case in cases], open_case.id)
            case_editor.show_case(book, open_case)
