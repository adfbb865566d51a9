"""Similarity: a passage and a question under one to four similarity functions, and the answer that comes of each."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.shared import choice_input, figures, pair_input, qa_models, style, token_grouping
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from pages.similarity import disagreement, inspector, pickers

SAYS = (
    'How each function scores every <b class="t-query">passage word</b> (down) against every '
    '<b class="t-key">question word</b> (across), and the answer found with it.'
)
READERS = (
    "Each function has a reader of its own, trained with it: readers differ in the function and in the weights. A "
    "reader always answers, even where the passage does not."
)


head, _ = style.opening()
entries = qa_models.readers()
style.say(head, "Similarity", SAYS)
if not entries:
    st.info("No reader is here yet: train one with triattn train; Checkpoints lists those available.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="center", key="pair"):
    asked = st.container(width="stretch", key="asked")
    choice_input.controls(qa_models.TASK, partial(disagreement.keep_examples, entries))
row = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
example = choice_input.example(qa_models.TASK, asked)
with row:
    chosen, settings = pickers.pick(entries)
with report_errors():
    explanation = qa_models.explain_readers(chosen, example, row)
    settings = settings.model_copy(update={"part": explanation[0].prediction.option + 1})
    grouping, digests = settings.grouping(), (entry.digest for entry in chosen)
    parts = (example.passage, example.question, str(settings.part - 1), *grouping.parts, *digests)
    page = PageScene.build("similarity", chosen, example, settings, *parts)
    page.question = example.question
token_grouping.missing(explanation[0].trace.texts, grouping)
with row:
    page.save_menus("similarity" + token_grouping.ending(grouping))
if note := pickers.one_flow_note(chosen, settings.titles):
    figures.note(note)
if notes := pair_input.notes(explanation):
    st.html(notes)
inspector.explore(page)
figures.note(f"{READERS} {qa_models.OUTPUTS}")
figures.numbers("All cells as numbers", lambda: page.scene.table, "numbers")
