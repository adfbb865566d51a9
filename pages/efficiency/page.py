"""Efficiency: time and memory of MTSA and its baselines by the length of the text, measured here or before."""

from __future__ import annotations

from html import escape

import pandas as pd
import streamlit as st

from pages.efficiency import cost_table, run_benchmark
from pages.shared import checkpoint_html, figures, style, url_state
from pages.shared.errors import shown
from triattn_core.results import efficiency
from triattn_core.views.charts import efficiency as view

LENGTHS = (16, 32, 64, 128, 256, 512)
SHIPPED = "shipped run"
PIECES = " DiSA takes long texts in pieces: its memory then grows less steeply."
LEAP = (
    " Bi-GRU's training leaps on a CPU where the gradient of its gates passes 32 MB (of 64 texts from 146 tokens): "
    "torch writes such a block for each token, and above that size the C library takes each anew from the system."
)
FAMILIES = {"bi_lstm": "muted", "bi_gru": "muted", "multi_cnn": "bar", "hierarchical_cnn": "bar", "mtsa": "mtsa"}

style.heading(
    "Efficiency",
    "What a block costs as texts grow: of two lines, the lower one costs less; on log axes a steeper one grows faster.",
)
runs: dict[str, efficiency.Measurement | None] = {}
with shown(stop=False):
    runs[SHIPPED] = efficiency.load_shipped()
with st.container(horizontal=True, vertical_alignment="center", key="settings"):
    with st.container(horizontal=True, width="content", key="looks"):
        passed = url_state.segments("Pass", list(efficiency.PASSES), "pass")
        axes = url_state.segments("Axes", ["log", "linear"], "axes")
        choice = st.container(width="content")
    with shown(stop=False):
        run_benchmark.controls(LENGTHS)
with shown():
    runs[run_benchmark.HERE] = run_benchmark.under_way()
there = [name for name, run in runs.items() if run is not None]
which = there[-1] if there else ""
if len(there) > 1:
    with choice:
        which = url_state.segments("Run", there, run_benchmark.CHOICE, 1)
measured = runs.get(which)
if measured is None or not measured.lengths:
    st.info("Nothing is measured yet: begin with the button above, or with the command triattn efficiency.")
    st.stop()
names = efficiency.block_names(measured)
timed = [point for point in measured.points if point.passed == passed and point.seconds is not None]
points = pd.DataFrame(
    [
        {"name": names[point.block], "tokens": point.tokens, "seconds": point.seconds, "memory": point.memory}
        for point in timed
    ]
)
title = f"{which.capitalize()}, batch {measured.batch}: memory and time of {passed} against the length of the text"
threads = f"{measured.threads} thread{'s' * (measured.threads != 1)}"
st.html(checkpoint_html.section(title, escape(f"{measured.machine}, {threads}, {measured.date}")))
families = {name: FAMILIES.get(block, "text") for block, name in names.items()}
theme = "dark" if style.dark() else "light"
said = f"{passed.capitalize()}. {view.said(points)}{PIECES if 'disa' in names else ''}"
if passed == "training" and "bi_gru" in names and measured.machine.startswith("CPU"):
    said += LEAP
with st.container(horizontal=True, gap="medium", key="panels"):  # side by side where both have room
    for column in view.PANELS:
        if chart := view.figure(points, families, column, axes == "log", theme):
            figures.drawn(chart, said, f"costs-{column}")
figures.note(said)
figures.numbers("All lengths as numbers", points, "numbers")
tokens = url_state.segments("Tokens", measured.lengths, "tokens", min(2, len(measured.lengths) - 1))
st.html(cost_table.costs_html(measured, tokens))
st.html(cost_table.method_html(measured))
name = f"efficiency-{measured.date}.json"
st.download_button("Save this record, JSON", measured.text(), name, "application/json", on_click="ignore")
