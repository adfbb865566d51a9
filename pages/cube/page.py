"""Tri-Attention cube: an example, what the model says, and the cube of weights behind it."""

from __future__ import annotations

import streamlit as st

from pages.cube import costs, inspector, pickers
from pages.shared import (
    attention_worth,
    choice_input,
    head_strip,
    page_setup,
    style,
    token_grouping,
)
from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from pages.shared.page_scene import PageScene
from triattn_core.scenes.scene import head_choice
from triattn_core.views.cube import NEEDS as AXES

TITLE = "Tri-Attention cube"

top = page_setup.open_page(TITLE, lambda words: words.cube["a_over_b"], ("tri",), AXES)
explanation = None
with report_errors(stop=False):  # the pickers stay
    explanation = MODELS.explain(top.entry, top.example, top.option)
with top.settings:
    settings = pickers.pick(top, explanation)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
direction = settings.site.role
style.say(top.head, TITLE, top.words.cube[direction])
if not top.pairs:
    link = choice_input.link(task=top.words.label, compare="options", checkpoint=top.entry.name)
    top.toolbar.page_link("pages/side_by_side/page.py", label="Compare two", query_params=link)
if explanation is None:
    st.stop()
top.say(explanation, head_choice(settings.site, settings.head))
token_grouping.missing(explanation.trace.texts, settings.grouping())
with report_errors():
    page = PageScene.build(
        "cube",
        [top.entry],
        top.example,
        costs.opening(top.entry, top.example, settings),
        *explanation.trace.texts.values(),
        direction,
        *settings.grouping().parts,
        explanations=[explanation],
    )
with tail:
    attention_worth.notes([top.entry])
    page.save_menus(f"cube-{settings.site.file_name}" + token_grouping.ending(settings.grouping()))
heads = head_strip.of_layers(explanation.trace, lambda site: site.role == direction)
source = f"{explanation.source} {direction}"
inspector.show(page, heads, source, costs.measure(top.entry, page, explanation) if costs.can_measure(page) else None)
