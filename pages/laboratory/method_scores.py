"""Do attribution methods find it?  The app's attribution methods and null replacements on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from pages.laboratory import model_maps
from pages.shared import checkpoint_html, figures, style
from triattn_core.checkpoint.registry import Entry
from triattn_core.views.charts import truth_methods

METHOD_NOTE = (
    "A method has found the truth in a row where its highest-scored key and its highest-scored context token form a "
    "true pair; scores are for the right answer. Where a key names that answer, as a card does by its colour, even a "
    "model at chance finds the key. It then finds the pair at chance level for the context token. C-Bi's attention "
    "does not score the context."
)
REPLACED = (
    "The product of a cube's marginals takes nothing away: a cube whose weight is on one cell is that product. So it "
    "does not tell whether an answer needs the third order; a model trained with pairwise scores does, and stays at "
    "chance."
)


def show_methods(entries: Sequence[Entry]) -> None:
    """How often each method scores the true pair of a chosen model highest; measured by `triattn evaluate`."""
    measured = {
        model_maps.label(entry): (model_maps.colour(entry), entry.metrics["instruments"])
        for entry in entries
        if "instruments" in entry.metrics
    }
    if not measured:
        return
    count = max(report["n"] for _, report in measured.values())
    about = f"every attribution method and replacement in this app, on {count} held-out rows"
    st.html(checkpoint_html.section("Which methods find the truth?", about))
    rows, theme = truth_methods.table(measured), style.theme()
    sentence = truth_methods.describe(rows)
    chart = partial(truth_methods.figure, rows, style.colours(), theme)
    with st.container(horizontal=True, gap="large", key="methods"):
        figures.show(chart, sentence, "methods-found", width="content")
        with st.container(width=540):
            figures.folded("In words, and when a method has found it", f"{sentence} {METHOD_NOTE}")
            figures.folded("Accuracy in %, other weights in place of the model's own", REPLACED)
            _show_replacements({name: report["accuracy"] for name, (_, report) in measured.items()})
    figures.numbers("All methods as numbers", rows, "method-numbers")


def _show_replacements(accuracy: Mapping[str, Mapping[str, float]]) -> None:
    """By model what is left of its accuracy when its weights are replaced."""
    rows = pd.DataFrame([{"model": name, **scores} for name, scores in accuracy.items()])
    formats = {name: st.column_config.NumberColumn(format="%.1f") for name in rows.columns[1:]}
    st.dataframe(rows, hide_index=True, width="content", height="content", column_config=formats,
                 placeholder="", alt="Accuracy with weights replaced")  # fmt: skip
