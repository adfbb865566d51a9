"""Head atlas: every head of a checkpoint over many rows; the chosen one in examples, and without it."""

from __future__ import annotations

import streamlit as st

from pages.heads import ablation, examples, overview, pickers, word_weights, worth
from pages.shared import attention_worth, style
from pages.shared.errors import report_errors

SAYS = "What each attention head does over many rows, which heads are alike, and what ablating one costs."

head, toolbar = style.opening()
style.say(head, "Head atlas", SAYS)
rows = pickers.pick_rows(toolbar)
with report_errors():
    atlas = pickers.measure(rows)
if atlas is None:
    st.stop()
with toolbar:
    attention_worth.notes(rows.entries)
worth.show(rows)
lost = ablation.losses(rows, atlas) if rows.labelled else None
several = len(atlas.names) > 1
left, right = st.container(key="main").columns([1.5, 1], gap="medium") if several else (st.container(), None)
with left:
    overview.show_table(rows, atlas, lost)
if right is not None:
    with right:
        overview.show_likeness(atlas)
examples.show(rows, atlas)
word_weights.show(rows, atlas)
