"""Do the instruments find it?  The app's attribution methods and null replacements on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.laboratory import model_maps
from pages.shared import checkpoint_html, figures, style
from triattn_core.checkpoint.registry import Card
from triattn_core.views.charts import truth_methods

REPLACED = {"even": "even", "shuffled": "shuffled", "untrained": "those of an untrained model"}


def methods(cards: Sequence[Card]) -> None:
    """How often each method scores the true pair of a chosen model highest; measured by `triattn evaluate`."""
    measured = {
        model_maps.label(card): (model_maps.colour(card), card.metrics["instruments"])
        for card in cards
        if "instruments" in card.metrics
    }
    if not measured:
        return
    count = max(report["n"] for _, report in measured.values())
    about = f"every attribution method and replacement of this app, tried on {count} held-out rows"
    st.html(checkpoint_html.section("Which methods find the truth?", about))
    rows, theme = truth_methods.table(measured), "dark" if style.dark() else "light"
    said = truth_methods.describe(rows)
    drawn = truth_methods.figure(rows, style.colours(), theme)
    with st.container(horizontal=True, gap="large", key="methods"):
        figures.drawn(drawn, said, "methods-found", width="content")
        with st.container(width=420):
            figures.note(
                f"{said} A method has found a row where both its highest score of a key and its highest of a context "
                "token are those of a true pair. It can find only what the model uses: where a model is at chance, no "
                "method finds anything, and none should. Attention of C-Bi gives the context nothing to compare."
            )
            figures.note(" ".join(_replaced(name, report["accuracy"]) for name, (_, report) in measured.items()))
    figures.numbers("All methods as numbers", rows, "method-numbers")


def _replaced(name: str, accuracy: Mapping[str, float]) -> str:
    """What is left of the accuracy when the weights are replaced."""
    left = ", ".join(f"{text} {accuracy[how]:.1f} %" for how, text in REPLACED.items())
    return f"{name} has {accuracy['as trained']:.1f} % of rows right; with other weights in place of its own: {left}."
