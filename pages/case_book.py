"""Case book: what was kept, found by words, tags and task; note and tags to edit; and the way back to the case."""

from __future__ import annotations

import streamlit as st

from pages.common import book_case, book_file, book_list, case_style, keeping, state, style
from pages.common.errors import shown

LEAD = (
    "Cases worth keeping, each with a note and tags, and the link that opens it as it was seen. The command "
    "<code>triattn book</code> and notebooks write the same book."
)

style.heading("Case book", LEAD)
case_style.styled()
if not keeping.there():
    st.info(book_list.NONE)
    with shown():
        book_file.both()
    st.stop()
with shown():
    book = keeping.book()
    cases, all_ = book_list.found(book)
    left, right = st.container(key="main").columns([1.7, 1], gap="medium")
    with left:
        chosen = book_list.shown(cases, all_)
    if chosen is not None:
        with right.container(key="aside"):
            state.steps("case", [case.id for case in cases], chosen.id)
            book_case.shown(book, chosen)
