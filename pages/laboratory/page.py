"""Laboratory: tasks whose right answer is known, and which attention looks where it is."""

from __future__ import annotations

import streamlit as st

from pages.laboratory import generated_rows, row_input, word_problems
from pages.shared import style

style.heading(
    "Laboratory",
    "On these tasks the right answer is known, and so are the pairs of key and context that carry it: outlined in each "
    "map. Change a word and they move; see which attention follows.",
)
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    task = row_input.picker()
if task is None:
    word_problems.show(settings)
else:
    generated_rows.show(task, settings)
