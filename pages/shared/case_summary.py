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


def show_source(mined: Cases, here: Mapping[str, Entry]) -> None:
    """One line on where the table comes from, what was set aside, and whether its checkpoints are still those here."""
    about = mined.about
    minutes, seconds = divmod(about.seconds, 60)
    took = f"{minutes:.0f} min {seconds:.0f} s" if minutes else f"{seconds:.2g} s"
    unit = case_list.unit(about.task)
    parts = [f"{len(mined.rows):,} {unit if len(mined.rows) != 1 else unit.removesuffix('s')} of {about.data}"]
    parts += [f"mined in {took} on {about.device.upper()}, {about.date[:10]}"]
    if not about.whole:
        parts += [f"stopped about line {about.lines:,}: of each {WINDOW} the shortest are mined first"]
    st.html(f'<p class="t-note">{escape("; ".join(parts))}</p>')
    if about.aside:
        many = "rows could not be read and were" if about.aside > 1 else "row could not be read and was"
        with st.expander(f"{about.aside:,} {many} set aside"):
            st.code("\n".join(about.complaints), language=None, wrap_lines=True)
    gone = [checkpoint.name for checkpoint in about.checkpoints if checkpoint.name not in here]
    other = [
        checkpoint.name
        for checkpoint in about.checkpoints
        if checkpoint.name not in gone and here[checkpoint.name].digest != checkpoint.digest
    ]
    if gone:
        notice(f"No longer among the checkpoints: {', '.join(gone)}. Rows cannot be opened with them.")
    if other:
        notice(f"Retrained since: {', '.join(other)}. A row opened now may get another answer.")


def show_summary(mined: Cases, tail: DeltaGenerator) -> dict[int, object]:
    """Above its rows: what is told of the table, and in `tail` how it is taken away.  Returns its examples by line.
    Raises DataError."""
    if len(mined.rows) <= case_list.WHOLE:
        with tail:
            export(mined)
    show_source(mined, {entry.name: entry for entry in models.entries()})
    return row_source.examples(mined)


def show_agreement(mined: Cases, examples: Mapping[int, object]) -> None:
    """Who is right where: the figure whose clicks filter the list, its sentence and its numbers."""
    drawn = figure(mined, examples)
    canvas_component.show_choosable(drawn, "who-is-right", agreement=filter_by)
    figures.note(drawn.alt)
    table = agreement.right_combinations(mined).rename_axis("right").reset_index()
    figures.numbers("Who is right as numbers", table, "who-numbers")


def figure(mined: Cases, examples: Mapping[int, object]) -> Canvas:
    """Who is right where, and whether it is chance.  examples: by line, where their file is here."""
    about, titles = mined.about, agreement.short_names(mined)
    tests = [
        view.Test(pair.a, pair.b, pair.only_a, pair.only_b, pair.adjusted) for pair in agreement.mcnemar_tests(mined)
    ]
    additive = {checkpoint.similarity for checkpoint in about.checkpoints} == {"additive"}
    paper = agreement.PAPER if additive and about.whole and about.data == PUBLISHED else {}
    return view.figure(
        agreement.right_combinations(mined),
        dict(zip(titles, (checkpoint.mechanism for checkpoint in about.checkpoints))),
        tests,
        agreement.accuracy(mined) | _baseline_scores(mined, examples),
        TASKS[about.task].LABELS if form(about.task) is InputForm.PAIR else (),
        case_list.unit(about.task),
        st.session_state.get("agreement", st.query_params.get("agreement", "")),
        {name: [of[0], of[1]] for name, of in paper.items()},
    )


def _baseline_scores(mined: Cases, examples: Mapping[int, object]) -> dict[str, float]:
    """What guessing, or saying the larger class always, would have right of the rows."""
    if len(examples) < mined.num_labelled:
        return {}
    judged = mined.rows.first(Filter(between={"label": (0, inf)}), ["row"], len(examples))[0]["row"]
    there = [examples[row] for row in judged if row in examples]
    return dict(TASKS[mined.about.task].baseline(there)) if there and len(there) == mined.num_labelled else {}


def filter_by(event: Mapping) -> None:
    """A click on a combination: the list shows it, or all again."""
    st.session_state["agreement"] = str(event.get("name")) or case_list.ANY


def export(mined: Cases) -> None:
    """The table as it is stored, and for a spreadsheet."""
    name = f"cases-{row_source.source_name(mined.about).replace(' ', '-')}"
    with st.popover("Export", width=112, key="export"):
        for label, ending, content, mime in (
            ("Table that opens here again, Parquet", "parquet", lambda: _parquet(mined), PARQUET),
            (
                "For a spreadsheet, CSV",
                "csv",
                lambda: _frame(mined).to_csv(index=False).encode("utf-8-sig"),
                "text/csv",
            ),
        ):
            save = {"key": f"save-{ending}", "on_click": "ignore", "width": "stretch"}
            st.download_button(label, content, f"{name}.{ending}", mime, **save)


def _parquet(mined: Cases) -> bytes:
    file = BytesIO()
    CaseTable(_frame(mined), mined.about).write(file)
    return file.getvalue()


def _frame(mined: Cases) -> pd.DataFrame:
    """All rows in the order of the file."""
    return mined.rows.frame()
