"""Third order: scores of three tokens side by side, on a row whose truth is known."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.laboratory import row_input
from pages.shared import figures, style
from pages.shared.errors import report_errors
from pages.third_order import cell_terms, cost, pickers, reached_table
from triattn_core.analysis.truth import truth_mask
from triattn_core.views.charts import score_maps

style.heading(
    "Third order",
    "Scores of three tokens on one row, each trained alike: which of them can find the outlined cell?",
)
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    task = pickers.task()
    models = pickers.models(task)
    st.space("stretch")
    row_input.menu(task)
with report_errors():
    row = row_input.row(task)
st.html(f"<p>{escape(task.say(row))} <b>{escape(row_input.truth(task, row))}</b></p>")
if not models:
    st.info("Choose at least one score.")
    st.stop()
with report_errors():
    found = [cell_terms.of(entry, row) for entry in models]
maps = [score_maps.ScoreMap(pickers.score(entry).label, part.weights[0]) for entry, part in zip(models, found)]
truth = truth_mask(row, maps[0].weights.shape)
drawn = st.container()
cell = pickers.cell(row, maps[0].weights)
with drawn:
    chart = score_maps.figure(maps, row.keys, row.context, truth, cell, pickers.WIDTH, style.theme())
    figures.show(chart, score_maps.describe(maps, truth), "score-maps", width="content")
    figures.note(
        "Each map is one softmax: its cells add up to 1. Bars are sums over rows and columns. Outlined: the true "
        "cells; dashed: the cell written out below."
    )
cell_terms.table(models, found, row, task, cell, truth)
reached_table.show()
cost.show()
