"""The cases of the book: filters in the URL, and a list whose rows open a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

import pandas as pd
import streamlit as st

from pages.case_book import import_export
from pages.shared import case_list, task_picker, url_state
from triattn_core.case_book import Case, CaseBook, texts
from triattn_core.errors import TriattnError
from triattn_core.tasks import TASKS

ANY = "any"
NONE = "No case has been kept yet: the pages that ask a model have a button for it, Keep."
ROW, MOST = 30, 20  # pixels of a row, rows without scrolling
COLUMNS = {
    "text": st.column_config.Column(width=210),
    "note": st.column_config.Column(width=210),
    "tags": st.column_config.ListColumn(width=110),
    "task": st.column_config.Column(width=70),
    "changed": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", width=118),
}


def filter_cases(book: CaseBook) -> tuple[list[Case], int]:
    """What the filters leave, the last changed first, and how many cases there are in all.  Raises CaseError."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="filters"):
        words = st.text_input("Words", key="words", bind="query-params", width=220, placeholder="in note, tags, texts")
        tag = url_state.pick("Tag", [ANY, *book.tags()], "tag", width=150)
        # Not "task": that of the page before says what was looked at there, not what is looked for here.
        task = url_state.pick("Task", [ANY, *task_picker.TASKS], "of", show=_task, width=150)
        st.space("stretch")
        import_export.show_buttons(book)
    return book.search(words, [] if tag == ANY else [tag], "" if task == ANY else task), len(book.search())


def _task(name: str) -> str:
    return task_picker.TASKS[name].label if name in task_picker.TASKS else name


def show_list(cases: Sequence[Case], total: int) -> Case | None:
    """Shows the list; returns the open case: clicked, named in the link, or the first.  total: cases in the book."""
    if not cases:
        st.html(f'<p class="t-note">{"No matching cases." if total else NONE}</p>')
        return None
    requested_id = st.query_params.get("case", "")
    index = next((i for i, case in enumerate(cases) if case.id == requested_id), 0)

    def take() -> None:
        row = url_state.selected_row("book")
        st.query_params["case"] = cases[index if row is None else row].id

    count_text = f"of {total:,} cases" if len(cases) < total else f"case{'s' * (total > 1)}"
    url_state.mark("book", index)
    st.html(f'<p class="t-note"><b>{len(cases):,}</b> {count_text}</p>')
    st.dataframe(
        pd.DataFrame(map(_row, cases)),
        key="book",
        hide_index=True,
        row_height=ROW,
        height=ROW * (min(len(cases), MOST) + 1) + 7,
        on_select=take,
        selection_mode=["single-row", "single-cell"],
        column_config=COLUMNS,
        alt=_describe(cases),
    )
    return cases[index]


def _describe(cases: Sequence[Case]) -> str:
    """A sentence: how many of each task pass the filters, and which was changed last."""
    counts = ", ".join(f"{count:,} of {_task(name)}" for name, count in Counter(case.task for case in cases).items())
    return f"{len(cases):,} pass the filters: {counts}; the last changed is “{_text(cases[0])[:60]}”."


def _row(case: Case) -> dict:
    return {
        "text": _text(case)[:200],
        "note": " ".join(case.note.split())[:200],
        "tags": list(case.tags),
        "task": case.task,
        "changed": pd.Timestamp(case.changed),
    }


def _text(case: Case) -> str:
    """What a case is known by: its first sentence, last turn or question; of a row of no task of ours any text."""
    for text_of in case_list.columns_of_texts(case.task).values():
        with suppress(TriattnError, IndexError):
            return text_of(TASKS[case.task].Example.from_row(case.row))
    return next(iter(texts(case.row)), "")
