"""The checkpoints as widgets: pickers, and a table whose rows choose one."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import pandas as pd
import streamlit as st

from pages.shared import attention_worth, checkpoint_html, figures, style, url_state
from pages.shared.record_stamp import checkpoint_stamp, record_stamp
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry

# A filter appears once the checkpoints have two values for it.
FILTERS = {
    "task": ("Task", metadata.task_label),
    "mechanism": ("Mechanism", checkpoint_html.label),
    "similarity": ("Similarity", lambda entry: checkpoint_html.similarity(entry) or "none"),
    "language": ("Language", lambda entry: metadata.language_name(metadata.language(entry))),
}
# A picture: Streamlit takes ten times as long to send a pandas table whose cells have colours.
SWATCH = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='20' height='20'%3E"
    "%3Crect x='7' y='7' width='6' height='6' fill='{colour}'/%3E%3C/svg%3E"
)
ROW, MOST = 26, 24  # pixels of a row, rows without scrolling
NUMBER = st.column_config.NumberColumn(format="%.1f")
COLUMNS = {
    "": st.column_config.ImageColumn(width=24),
    "name": st.column_config.Column(width=170),
    "dev": NUMBER,
    "test": NUMBER,
    "over seeds": st.column_config.Column(width=98),
    "worth": st.column_config.Column(width=92, help=attention_worth.HELP),
    "reliance": st.column_config.NumberColumn(format="%+.1f", help=attention_worth.HELP),
    "query information (bits)": st.column_config.NumberColumn(format="%.2f", help=attention_worth.HELP),
    "parameters": st.column_config.NumberColumn(format="localized"),
    "MB": NUMBER,
}


def pickers(entries: Sequence[Entry]) -> tuple[Entry, Entry, list[Entry]]:
    """The row above the table: the checkpoint, the one to compare it with, and those that pass the filters."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entry = url_state.pick("Checkpoint", entries, "checkpoint", show=lambda entry: entry.name, width=196)
        # Checkpoints of the same data set come first.
        other_entries = sorted(
            (candidate for candidate in entries if candidate != entry),
            key=lambda candidate: metadata.dataset_name(candidate) != metadata.dataset_name(entry),
        )
        other_entries = other_entries or [entry]
        other = url_state.pick("Compare with", other_entries, "other", show=lambda entry: entry.name, width=196)
        rows = list(entries)
        for key, (label, property_of) in FILTERS.items():
            options = sorted({property_of(row) for row in entries})
            if len(options) > 1:
                value = url_state.pick(label, ["all", *options], key, width=112)
                rows = [row for row in rows if value in ("all", property_of(row))]
    return entry, other, rows


def tables(rows: Sequence[Entry], entry: Entry) -> None:
    """A table for those that may be compared; a click anywhere in a row chooses its checkpoint."""
    for number, group in enumerate(metadata.comparable_groups(rows).values()):
        st.html(checkpoint_html.group_head(group))
        _table(group, entry, f"checkpoints{number}")


def _table(rows: Sequence[Entry], entry: Entry, key: str) -> None:
    def take() -> None:
        selected = url_state.selected_row(key)
        st.session_state["checkpoint"] = entry if selected is None else rows[selected]

    sentence = _describe_scores(rows)
    swatches = [SWATCH.format(colour=quote(style.colour(metadata.model_setting(row, "mechanism")))) for row in rows]
    table = _frame(record_stamp(), checkpoint_stamp(rows), rows).copy()
    table.insert(0, "", swatches)
    url_state.mark(key, rows.index(entry) if entry in rows else None)
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        row_height=ROW,
        height=ROW * (min(len(rows), MOST) + 1) + 7,
        on_select=take,
        selection_mode=["single-row", "single-cell"],
        column_config=COLUMNS,
        placeholder="",
        alt=sentence,
    )
    figures.note(sentence)


@st.cache_resource(max_entries=64, show_spinner=False)
def _frame(stamp: str, checkpoints: str, _rows: Sequence[Entry]) -> pd.DataFrame:
    """The numbers of the table: a click changes none of them."""
    return attention_worth.with_measures(checkpoint_html.frame(_rows), _rows)


def _describe_scores(rows: Sequence[Entry]) -> str:
    """A sentence: the highest and the lowest score on test."""
    scored = sorted((row for row in rows if metadata.main_score(row) is not None), key=metadata.main_score)
    if not scored:
        return f"{len(rows)} not yet measured on test."
    ends = [f"{row.name}, {checkpoint_html.percent(metadata.main_score(row))}" for row in (scored[-1], scored[0])]
    if len(scored) == 1:
        return f"{metadata.metric_name(scored[0]).capitalize()} on test, %: {ends[0]}."
    return f"Highest {metadata.metric_name(scored[-1])} on test of {len(scored)}, %: {ends[0]}; lowest: {ends[1]}."
