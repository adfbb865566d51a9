"""The pickers of Results: which paper, which of its tables, and which columns of it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import models, url_state
from pages.shared.record_stamp import checkpoint_stamp, record_stamp
from triattn_core.results import paper_comparison
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_results import PaperRecord
from triattn_core.results.paper_schema import Table
from triattn_core.results.run_records import Record

MANY = 7  # tables beyond this are offered in a list


def choose_table(papers: Sequence[PaperRecord], records: Sequence[Record]) -> tuple[PaperRecord, Table | None]:
    """Paper and table, by default those with most to compare."""
    stamp = record_stamp(), checkpoint_stamp(models.entries())
    paper_index, first = _default_table(*stamp, tuple(record.paper.name for record in papers), papers, records)
    paper = papers[paper_index]
    if len(papers) > 1:
        names = {record.paper.name: record for record in papers}
        paper = names[url_state.segments("Paper", list(names), "paper", paper_index)]
        if paper is not papers[paper_index]:
            first = _default_table(*stamp, (paper.paper.name,), [paper], records)[1]
    if not paper.tables:
        return paper, None
    tables = {table.label: table for table in paper.tables}
    pick = url_state.segments if len(tables) <= MANY else url_state.pick
    return paper, tables[pick("Table", list(tables), "table", first)]


@st.cache_resource(max_entries=16, show_spinner=False)
def _default_table(
    stamp: str,
    checkpoints: str,
    names: tuple[str, ...],
    _papers: Sequence[PaperRecord],
    _records: Sequence[Record],
) -> tuple[int, int]:
    return paper_comparison.default_table(_papers, _records)


def choose_columns(table: Table, cells: Sequence[Sequence[Cell]]) -> tuple[list[int], int]:
    """The columns of one data set, and which of them is drawn, by their places in the table."""
    groups: dict[str, list[int]] = {}
    for i, column in enumerate(table.columns):
        groups.setdefault(column.group, []).append(i)
    counts = [sum(bool(line[i].values) for line in cells for i in columns) for columns in groups.values()]
    group = next(iter(groups))
    if len(groups) > 1:
        group = url_state.segments("Data", list(groups), "data", counts.index(max(counts)))
    names = {table.columns[i].name: i for i in groups[group]}
    scores = (i for i in groups[group] if table.columns[i].split != "run" and any(line[i].values for line in cells))
    first = groups[group].index(next(scores, groups[group][0]))  # sizes are not what a table is about
    column_name = url_state.segments("Draw", list(names), "draw", first) if len(names) > 1 else next(iter(names))
    return groups[group], names[column_name]
