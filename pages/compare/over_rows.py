"""How checkpoints answer many rows: their scores, who flips where, and the way to one input."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import case_detail, case_summary, checkpoint_html, checkpoint_picker, disagreements, task_picker
from pages.shared.errors import report_errors
from triattn_core.analysis.mining import agreement
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.axes import TAN_MECHANISMS


def show(mined: Cases, tail: DeltaGenerator) -> None:
    """Scores and disagreements, and the rows with the one that is chosen.  tail: of the buttons that save."""
    with report_errors():
        examples = case_summary.show_summary(mined, tail)
    left, right = st.container(key="main").columns([2.7, 1], gap="medium")
    with left:
        st.html(disagreements.scores_html(mined) + disagreements.pairs(mined))
        st.html(checkpoint_html.section("Who flips", disagreements.WHICH[agreement.comparison_column(mined)]))
        some = disagreements.rows(mined)
    if len(some.rows):
        case_detail.show_rows(mined, some, examples, left, right)


def link_side_by_side(task: str, chosen: Sequence[Entry]) -> None:
    """The link to the maps of these checkpoints, where they have such."""
    with st.container(horizontal=True, key="elsewhere"):
        mechanisms = {metadata.model_setting(entry, "mechanism") for entry in chosen}
        if task in task_picker.TASKS and mechanisms <= set(TAN_MECHANISMS):
            query = {checkpoint_picker.KEY: [entry.name for entry in chosen]}
            st.page_link("pages/side_by_side/page.py", label="One input: their maps side by side", query_params=query)
