"""Attribute: which tokens drive the prediction, by several methods, with tests of their faithfulness."""

from __future__ import annotations

import streamlit as st

from pages.attribute import attribution_agreement, attribution_stream, chosen_token, faithfulness, pickers
from pages.shared import attention_worth, figures, page_setup, style
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from triattn_core.sources.source import Ability
from triattn_core.trace.axes import TAN_MECHANISMS

LEAD = "Which tokens drive the prediction? Several attribution methods on one scale, with faithfulness tests."

question = page_setup.opening("Attribute", LEAD, TAN_MECHANISMS, abilities=[Ability.GRADIENTS], others=True)
with question.settings:
    settings = pickers.pick(question)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
theme = style.theme()
with st.container(key="main"):
    left, right = st.columns([3, 1.15], gap="medium")
with left:
    figure, below = st.container(), st.container(key="below-marks")
parts = PageScene.stream("attribute", [question.entry], question.example, settings)
with figure, report_errors():
    page = attribution_stream.show_methods(parts, below, right, theme)
tokens = page.scene.tokens
with below:
    figures.folded("In words", tokens.sentence)
    figures.numbers(f"All {len(tokens.table):,} attributions as numbers", tokens.rows, "numbers")
    st.html(attribution_agreement.completeness(tokens.completeness, tokens.completeness_warning))
with right:
    chosen_token.show(tokens)
page = faithfulness.show_example_curves(page, parts)
with tail:
    attention_worth.notes([question.entry])
    page.save_menus("attribute")
if not page_setup.is_other(question.entry):
    faithfulness.show_over_rows(question, page.choices["method"])
