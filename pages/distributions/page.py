"""Distributions: how the scores of similarity functions spread on one input, and what their stored runs reached."""

from __future__ import annotations

import streamlit as st

from pages.distributions import histograms, run_spread
from pages.shared import choice_input, figures, qa_models, reader_picker, style, url_state
from pages.shared.errors import notice, report_errors
from triattn_core.results import run_records

SAYS = "How a similarity function spreads its scores, and so the attention; below, what its runs reach."
CENTRED = "Centred: minus the mean of their row, which is all that the softmax over the question sees."
OPENS = ("dot", "scaled_dot", "cosine")  # those of the paper's Figure 4
MOST = 12

head, _ = style.opening()
style.say(head, "Distributions", SAYS)
entries, theme = qa_models.readers(), style.theme()
readers, explanation = [], []
if entries:
    with st.container(horizontal=True, vertical_alignment="center", key="pair"):
        question_place = st.container(width="stretch", key="asked")
        choice_input.controls(qa_models.TASK)
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    example = choice_input.example(qa_models.TASK, question_place)
    with settings:
        readers = reader_picker.pick_readers(entries, OPENS, MOST)
        quantity = url_state.segments("Quantity", list(histograms.CENTRED), "spread")
        shared_axis = url_state.segments("Axis", ["shared", "one each"], "axis") == "shared"
    with report_errors(stop=False):
        explanation = qa_models.explain_readers(readers, example, settings, limit=MOST)
    if explanation:
        histograms.show(explanation, qa_models.titles_by_checkpoint(entries), example, quantity, shared_axis, settings)
else:
    st.info("No reader is here yet: train one with triattn train; Checkpoints lists those available.")
records, problems = run_records.all_records()
for problem in problems:
    notice(problem)
figures.folded("Centred, and what the answer layer reads", f"{CENTRED} {qa_models.OUTPUTS}")
run_spread.runs(records, [entry.name for entry in readers], theme)
