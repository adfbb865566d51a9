"""Time and memory of each block against the length of the text, as curves, in words and as numbers."""

from __future__ import annotations

from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, style
from triattn_core.results import efficiency
from triattn_core.views.charts import efficiency as view

PIECES = " DiSA takes long texts in pieces: its memory then grows less steeply."
JUMP = (
    " Bi-GRU training time jumps on a CPU when the gradient of its gates passes 32 MB (of 64 texts from 146 tokens): "
    "torch writes such a block for each token, and above that size malloc requests each from the operating system."
)
FAMILIES = {  # names of colours: recurrent, convolutional, MTSA; all other attention in the colour of the text
    **dict.fromkeys(("bi_lstm", "bi_gru"), "accent"),
    **dict.fromkeys(("multi_cnn", "hierarchical_cnn"), "series_2"),
    "mtsa": "mtsa",
}


def show(measured: efficiency.Measurement, run: str, pass_name: str, logarithmic: bool) -> None:
    """Draws the curves of one pass.  run: name of the measurement."""
    names, points = efficiency.block_names(measured), table(measured, pass_name)
    title = f"{run.capitalize()}, batch {measured.batch}: memory and time of {pass_name} against the length of the text"
    threads = f"{measured.threads} thread{'s' * (measured.threads != 1)}"
    st.html(checkpoint_html.section(title, escape(f"{measured.machine}, {threads}, {measured.date}")))
    families = {name: FAMILIES.get(block, "text") for block, name in names.items()}
    sentence = f"{pass_name.capitalize()}. {view.describe(points)}{PIECES if 'disa' in names else ''}"
    if pass_name == "training" and "bi_gru" in names and measured.machine.startswith("CPU"):
        sentence += JUMP
    with st.container(horizontal=True, gap="medium", key="panels"):  # side by side where both have room
        for column in view.PANELS:
            if (points[column].astype(float) > 0).any():
                chart = partial(view.figure, points, families, column, logarithmic, style.theme())
                figures.show(chart, sentence, f"costs-{column}")
    figures.note(sentence)
    figures.numbers("All lengths as numbers", points, "costs-numbers")


def table(measured: efficiency.Measurement, pass_name: str) -> pd.DataFrame:
    """A row for each block and length that was measured."""
    names = efficiency.block_names(measured)
    timed = [point for point in measured.points if point.passed == pass_name and point.seconds is not None]
    rows = [(names[point.block], point.tokens, point.seconds, point.memory) for point in timed]
    return pd.DataFrame(rows, columns=["name", "tokens", "seconds", "memory"]) if rows else pd.DataFrame()
