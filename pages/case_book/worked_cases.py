"""Three cases that an empty book opens on: they show what a case is, and can be kept."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from pages.shared import case_texts, checkpoint_html, deep_links, save_case
from pages.shared.errors import report_errors
from triattn_core.case_book import Case
from triattn_core.tasks import TASKS

TASK = "pairs"
CHECKPOINT = "checkpoint=quora-tri-living"
CASES = (  # what each asks is seen on the page that it opens on
    Case(TASK, {}, "Which word of the context carries the answer?", ("ablation",), "intervene", CHECKPOINT),
    Case(TASK, {}, "Which of four mechanisms answers otherwise, and where do its maps differ?", ("mechanisms",),
         "side_by_side"),
    Case(TASK, {}, "How large is one weight of the cube, and what does the answer lose without it?", ("weights",),
         "cube", CHECKPOINT),
)  # fmt: skip


def show() -> None:
    """The cases beside each other, each with the link that opens it."""
    for number, (column, case) in enumerate(zip(st.columns(len(CASES), gap="medium"), worked_cases()), 1):
        with column:
            st.html(checkpoint_html.section(f"Example {number}", ", ".join(case.tags)))
            case_texts.html(case.task, TASKS[case.task].Example.from_row(case.row))
            st.html(f"<p>{escape(case.note)}</p>")
            deep_links.link(case.task, case.row, case.page, deep_links.parse_query(case.query))


def keep_button() -> None:
    """The button that keeps them."""
    st.button("Keep these three", key="keep-worked", on_click=_keep)


def worked_cases() -> list[Case]:
    """The cases, with the row that the pages open on."""
    task = TASKS[TASK]
    row = task.row(task.examples("en")[0])
    return [replace(case, row=row) for case in CASES]


def _keep() -> None:
    with report_errors(stop=False):
        for case in reversed(worked_cases()):  # the last changed stands first
            save_case.book().keep(case)
