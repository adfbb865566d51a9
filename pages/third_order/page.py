"""Third order: scores of three tokens side by side, on a row whose truth is known."""

from __future__ import annotations

import streamlit as st

from pages.laboratory import row_input
from pages.shared import style
from pages.shared.errors import report_errors
from pages.third_order import cost, pickers, reached_table, shown_row

style.heading(
    "Third order",
    "Scores of three tokens on one row, each trained alike: which of them can find the outlined cell?",
)
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    task = pickers.task()
    models = pickers.models(task)
    st.space("stretch")
    beside = st.container(width="content")
row = None
with report_errors(stop=False):
    row = row_input.row(task)
if row is not None:
    with report_errors(stop=False):
        shown_row.show(row, task, models, beside)
reached_table.show()
cost.show()
