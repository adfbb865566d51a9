"""The test scores of all checkpoints as a picture; a click on a dot chooses its checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, style
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.views.charts import score_dots as view

HOW = "A dot is a checkpoint, a tick is what guessing reaches. Click a dot: its record opens beside it."


def show(entries: Sequence[Entry], entry: Entry) -> None:
    """entries: those that pass the filters; nothing is drawn where none was measured.  entry: the chosen one."""
    rows = _rows(entries)
    if rows.empty:
        return
    by_name = {candidate.name: candidate for candidate in entries}

    def take() -> None:
        if selected := st.session_state["scores"].selection.get(view.SELECTS):
            st.session_state["checkpoint"] = by_name[selected[0]["name"]]

    keys = "".join(
        f'<span class="t-item"><i class="t-swatch" style="background:{colour}"></i>{escape(names)}</span>'
        for names, colour in view.mechanisms(rows)
    )
    chart = partial(view.figure, rows, entry.name, style.theme())
    sentence = view.describe(rows)
    figures.show(chart, sentence, "scores", on_select=take, selection_mode=view.SELECTS)
    st.html(f'<p class="t-note">{keys}{HOW}</p>')
    figures.folded("In words", sentence)


def _rows(entries: Sequence[Entry]) -> pd.DataFrame:
    """A row a checkpoint with a test score; see `view.COLUMNS`."""
    rows = []
    for (task, data, language), group in metadata.comparable_groups(entries).items():
        for entry in group:
            baselines = [metadata.metric_value(entry, "test", name) for name in metadata.BASELINES]
            mechanism, score = metadata.model_setting(entry, "mechanism"), metadata.main_score(entry)
            rows.append(
                {
                    "set": f"{data or task}, {metadata.metric_name(entry)}",
                    "name": entry.name,
                    "mechanism": checkpoint_html.label(entry),
                    "colour": style.colour(mechanism),
                    "score": score,
                    "blind": next((value for value in baselines if value is not None), None),
                    "of": f"{task}, {language}",
                }
            )
    table = pd.DataFrame(rows, columns=[*view.COLUMNS, "of"]).dropna(subset="score").astype({"blind": float})
    several = table.groupby("set")["of"].transform("nunique") > 1  # of one name, in two languages or tasks
    table.loc[several, "set"] += ", " + table.loc[several, "of"]
    return table[view.COLUMNS]
