"""Context: does it matter?  Functional ANOVA of a cube's relevance, its three-way interaction, and a file of rows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.context import context_parts, pickers
from pages.shared import attention_worth, checkpoint_html, figures, page_setup, style
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from triattn_core.scenes.context import REDIRECTED, STRONG

WIDE = 540  # pixels of the residual: as much as its column has at least
LEAD = "How much of the attention depends on context: the variance of each head's scores in parts (functional ANOVA)."


def choose_head(figure: str) -> None:
    """A click on a bar chooses its layer and head, as the pickers do."""
    if clicked := st.session_state[figure].selection.get("cell"):
        st.session_state["layer"], st.session_state["head"] = (int(clicked[0][f"at_{n}"]) for n in ("layer", "head"))


question = page_setup.opening("Does context matter?", LEAD, ("tri",), ("context",))
with question.settings:
    settings = pickers.pick(question)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with report_errors():
    page = PageScene.build("context", [question.entry], question.example, settings)
parts, theme = page.scene.parts, style.theme()
with st.container(key="main-parts"):
    left, right = st.columns([1.15, 1], gap="large")
with left:
    st.html(checkpoint_html.section("Parts of the relevance", "share of variance, excluding the query main effect"))
    look = {"selection_mode": "cell", "description": parts.sentence}
    figures.show(parts.draw_bars(theme), key="parts", on_select=partial(choose_head, "parts"), **look)
    st.html(context_parts.legend(parts.row, theme))
    st.html(f'<p class="t-note">{REDIRECTED}:</p>')
    figures.show(parts.draw_bars(theme, STRONG), key="redirected", on_select=partial(choose_head, "redirected"), **look)
    figures.note(parts.sentence)
    figures.numbers("All heads as numbers", parts.shares, "numbers")
with right:
    place = f"layer {parts.settings.layer}, head {parts.settings.head}: three-way interaction"
    st.html(checkpoint_html.section("Three-way residual", place))
    page.choices["cell"] = (pickers.pick_token(parts.words["context"], page.cell[0]),)
    residual = parts.residual(page.cell[0])
    figures.show(residual.draw(theme, WIDE), residual.sentence, "residual", width="content")
    figures.note(residual.sentence)
    figures.numbers("The map as numbers", residual.rows, "map-numbers")
with tail:
    attention_worth.notes(page.entries)
    page.save_menus("context")
context_parts.show_over_rows(question, parts.shares)
