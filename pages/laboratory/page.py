"""Laboratory: tasks whose right answer is known, and which attention looks where it is."""

from __future__ import annotations

import streamlit as st

from pages.laboratory import generated_rows, row_input, word_problems
from pages.shared import style

style.heading(
    "Laboratory",
    "The right answer is known, and so is the cell that carries it: outlined in each map. Change a word and it moves.",
)
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    task = row_input.picker()
if task is None:
    word_problems.show(settings)
else:
    generated_rows.show(task, settings)
