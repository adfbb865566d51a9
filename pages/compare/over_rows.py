"""How checkpoints answer many rows: their scores, on which rows they differ, and links to single inputs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import (
    case_detail,
    case_summary,
    checkpoint_html,
    checkpoint_picker,
    disagreements,
    models,
    row_source,
    task_picker,
)
from pages.shared.errors import report_errors
from triattn_core.analysis.mining import agreement
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.analysis.significance import LEVEL
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.axes import TAN_MECHANISMS


def show(cases: Cases, tail: DeltaGenerator) -> None:
    """Shows scores, disagreements, and the rows with the open one.  tail: the place of the export buttons."""
    with report_errors():
        examples = case_summary.show_summary(cases, tail)
    left, right = st.container(key="main").columns([2.7, 1], gap="medium")
    with left:
        st.html(disagreements.scores_html(cases))
        _link_larger(cases)
        st.html(disagreements.pairs(cases))
        st.html(checkpoint_html.section("Who flips", disagreements.WHICH[agreement.comparison_column(cases)]))
        selection = disagreements.rows(cases)
    if len(selection.rows):
        case_detail.show_rows(cases, selection, examples, left, right)


def _link_larger(cases: Cases) -> None:
    """Where the rows tell no two checkpoints apart, links to the table of a test set that does, of others."""
    ps = agreement.pairwise_agreement(cases).get("p")
    if ps is None or ps.min() <= LEVEL:
        return
    here = {entry.name for entry in models.entries(cases.about.task)}
    for name, (path, about) in row_source.recorded_tables(cases.about.task, cases.about.language).items():
        names = [checkpoint.name for checkpoint in about.checkpoints]
        table = row_source.table(path, about.task, about.language, ()) if here >= set(names) else None
        if table is None or not (ahead := who_is_ahead(table)):
            continue
        count = f"{len(cases.rows):,} rows tell no two of these apart."
        st.page_link(
            "pages/compare/page.py",
            label=f":gray[{count}] {name}, {len(table.rows):,} rows: {ahead}",
            query_params={checkpoint_picker.KEY: names, "rows": name},
        )


def who_is_ahead(cases: Cases) -> str:
    """The pair of checkpoints that its rows tell apart most surely, in words; empty where they tell none apart."""
    table = agreement.pairwise_agreement(cases)
    if "p" not in table or table["p"].min() > LEVEL:
        return ""
    pair = table.loc[table["p"].idxmin()]
    names = (pair["a"], pair["b"]) if pair["only a"] > pair["only b"] else (pair["b"], pair["a"])
    return f"{names[0]} is ahead of {names[1]} (p = {pair['p']:.1g})"


def link_side_by_side(task: str, entries: Sequence[Entry]) -> None:
    """Links to the maps of these checkpoints side by side, if they have comparable maps."""
    with st.container(horizontal=True, key="elsewhere"):
        mechanisms = {metadata.model_setting(entry, "mechanism") for entry in entries}
        if task in task_picker.TASKS and mechanisms <= set(TAN_MECHANISMS):
            query = {checkpoint_picker.KEY: [entry.name for entry in entries]}
            st.page_link("pages/side_by_side/page.py", label="One input: their maps side by side", query_params=query)
