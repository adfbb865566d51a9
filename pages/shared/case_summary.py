"""A mined table as a whole: where it comes from, who is right where, and how it is taken away."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from io import BytesIO
from math import inf

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import canvas_component, case_list, figures, models, row_source
from pages.shared.errors import notice
from triattn_core.analysis.mining import agreement
from triattn_core.analysis.mining.case_rows import Filter
from triattn_core.analysis.mining.case_table import WINDOW, Cases, CaseTable
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.views import agreement as view
from triattn_core.views.lib.canvas import Canvas

PUBLISHED = "lcqmc/test.jsonl.gz"  # the rows of the paper's case study
PARQUET = "application/vnd.apache.parquet"


def show_source(cases: Cases, entries_by_name: Mapping[str, Entry]) -> None:
    """Shows where the table comes from, which rows were set aside, and which checkpoints are missing or retrained."""
    about = cases.about
    minutes, seconds = divmod(about.seconds, 60)
    took = f"{minutes:.0f} min {seconds:.0f} s" if minutes else f"{seconds:.2g} s"
    unit = case_list.unit(about.task)
    parts = [f"{len(cases.rows):,} {unit if len(cases.rows) != 1 else unit.removesuffix('s')} of {about.data}"]
    parts += [f"mined in {took} on {about.device.upper()}, {about.date[:10]}"]
    if about.truncated:
        parts += [f"the file was not read to its end: {about.truncated}"]
    elif not about.whole:
        parts += [f"stopped about line {about.lines:,}: of each {WINDOW} the shortest are mined first"]
    st.html(f'<p class="t-note">{escape("; ".join(parts))}</p>')
    if about.aside:
        many = "rows could not be read and were" if about.aside > 1 else "row could not be read and was"
        with st.expander(f"{about.aside:,} {many} set aside", key="set-aside", bind="query-params"):
            st.code("\n".join(about.complaints), language=None, wrap_lines=True)
    entries_by_name = {entry.name: entry for entry in models.others()} | dict(entries_by_name)
    missing = [checkpoint.name for checkpoint in about.checkpoints if checkpoint.name not in entries_by_name]
    retrained = [
        checkpoint.name
        for checkpoint in about.checkpoints
        if checkpoint.name not in missing and entries_by_name[checkpoint.name].digest != checkpoint.digest
    ]
    if missing:
        notice(f"No longer among the checkpoints: {', '.join(missing)}. Rows cannot be opened with them.")
    if retrained:
        notice(f"Retrained since: {', '.join(retrained)}. A row opened now may get another answer.")


def show_summary(cases: Cases, tail: DeltaGenerator) -> dict[int, object]:
    """Shows the source of the table, and in `tail` its export; returns its examples by line.
    Raises DataError."""
    if len(cases.rows) <= case_list.WHOLE:
        with tail:
            export(cases)
    show_source(cases, {entry.name: entry for entry in models.entries()})
    return row_source.examples(cases)


def show_agreement(cases: Cases, examples: Mapping[int, object]) -> None:
    """Shows which checkpoints are right on which rows: the figure, whose clicks filter the list, and its numbers."""
    canvas = figure(cases, examples)
    canvas_component.show_choosable(canvas, "who-is-right", agreement=filter_by)
    figures.folded("In words", canvas.alt)
    table = agreement.right_combinations(cases).rename_axis("right").reset_index()
    figures.numbers("Who is right as numbers", table, "who-numbers")


def figure(cases: Cases, examples: Mapping[int, object]) -> Canvas:
    """The figure of which checkpoints are right on which rows, with McNemar tests.  examples: by line, if available."""
    about, titles = cases.about, agreement.short_names(cases)
    tests = [
        view.Test(pair.a, pair.b, pair.only_a, pair.only_b, pair.adjusted) for pair in agreement.mcnemar_tests(cases)
    ]
    additive = {checkpoint.similarity for checkpoint in about.checkpoints} == {"additive"}
    paper = agreement.PAPER if additive and about.whole and about.data == PUBLISHED else {}
    return view.figure(
        agreement.right_combinations(cases),
        dict(zip(titles, agreement.colours(cases))),
        tests,
        agreement.accuracy(cases) | _baseline_scores(cases, examples),
        TASKS[about.task].LABELS if form(about.task) is InputForm.PAIR else (),
        case_list.unit(about.task),
        st.session_state.get("agreement", st.query_params.get("agreement", "")),
        {name: [counts[0], counts[1]] for name, counts in paper.items()},
    )


def _baseline_scores(cases: Cases, examples: Mapping[int, object]) -> dict[str, float]:
    """The accuracy of guessing and of always answering the majority class."""
    if len(examples) < cases.num_labelled:
        return {}
    judged = cases.rows.first(Filter(between={"label": (0, inf)}), ["row"], len(examples))[0]["row"]
    labelled_examples = [examples[row] for row in judged if row in examples]
    return (
        dict(TASKS[cases.about.task].baseline(labelled_examples))
        if labelled_examples and len(labelled_examples) == cases.num_labelled
        else {}
    )


def filter_by(event: Mapping) -> None:
    """A click on a combination: the list shows it, or all again."""
    st.session_state["agreement"] = str(event.get("name")) or case_list.ANY


def export(cases: Cases) -> None:
    """Shows the export menu: the table as Parquet and as CSV."""
    name = f"cases-{row_source.source_name(cases.about).replace(' ', '-')}"
    with st.popover("Export", width=112, key="export"):
        for label, ending, content, mime in (
            ("Table that opens here again, Parquet", "parquet", lambda: _parquet(cases), PARQUET),
            (
                "For a spreadsheet, CSV",
                "csv",
                lambda: _frame(cases).to_csv(index=False).encode("utf-8-sig"),
                "text/csv",
            ),
        ):
            save = {"key": f"save-{ending}", "on_click": "ignore", "width": "stretch"}
            st.download_button(label, content, f"{name}.{ending}", mime, **save)


def _parquet(cases: Cases) -> bytes:
    file = BytesIO()
    CaseTable(_frame(cases), cases.about).write(file)
    return file.getvalue()


def _frame(cases: Cases) -> pd.DataFrame:
    """All rows in the order of the file."""
    return cases.rows.frame()
