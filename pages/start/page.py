"""Start: one screen that shows what three-way attention does, and three doors."""

from __future__ import annotations

import streamlit as st

from pages.shared import canvas_component, style
from pages.start import evidence, view
from triattn_core.results.first_screen import first_screen
from triattn_core.views.start import figure

DOORS = {"cube": "Type your pair", "open": "Open your model", "studies": "Read the studies"}
TITLE = (
    'Which <span class="t-key">card</span> is the <span class="t-query">fish</span>? '
    'It depends on the <span class="t-context">language</span>.'
)
LEARNED = "The made-up dictionary is learned, not in the input."

place, _ = style.opening()
place.html(f'<div class="t-start"><h1>{TITLE}</h1><p>{LEARNED}</p></div>')
screen = first_screen()
language, frame = view.from_link(screen)
chosen = canvas_component.show(figure.figure(screen, language, frame), "start", note=False)
view.to_link(screen, chosen)
numbers = f"{evidence.of_layers()} {evidence.sentence()}".replace(" %", "\u00a0%")
st.html(f'<p class="t-start-line">{numbers}</p>')
with st.container(horizontal=True, gap="medium", key="doors"):
    for page, label in DOORS.items():
        st.page_link(f"pages/{page}/page.py", label=label, icon=":material/arrow_forward:", icon_position="right")
