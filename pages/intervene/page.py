"""Intervene: remove, mask, replace or reorder units of the context; swap the context or the attention."""

from __future__ import annotations

import streamlit as st

from pages.intervene import (
    before_after,
    intervention_controls,
    intervention_result,
    leave_one_out,
    null_test,
    replaced_weights,
)
from pages.shared import attention_worth, page_setup, style
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from triattn_core.scenes.intervene_parts import Intervention
from triattn_core.sources.source import Ability
from triattn_core.trace.axes import TAN_MECHANISMS

LEAD = "Change the context with a click: the new attention, its difference, and how the prediction changes."

WEIGHTS = "Replace attention weights in chosen heads: what becomes of the answer, and of the attention after them."

question = page_setup.opening("Intervene", LEAD, TAN_MECHANISMS, abilities=[Ability.REPLACE], others=True)
with question.settings:
    if replaced_weights.is_asked(question):
        style.say(question.head, "Intervene", WEIGHTS)
        replaced_weights.show(question)
        st.stop()
    settings = intervention_controls.pick_way(question)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
theme = style.theme()
null = st.container() if null_test.asked_by_link() else None
singly = st.container(key="one-by-one") if settings.how in ("remove", "mask") else st.container()  # its room is kept
result, per_unit, maps = (st.container() for _ in range(3))
null = null or st.container()
with maps, report_errors():  # what is known before the model is asked again stands there at once
    settings = before_after.pick_map(question, settings)
    places = before_after.draw_before(Intervention(question, settings), theme)
with result, report_errors():
    settings = intervention_controls.pick_units(Intervention(question, settings))
with null:
    settings = null_test.pick(question, settings)
parts = PageScene.stream("intervene", [question.entry], question.example, settings)
with result, report_errors():
    page = next(parts)
    change = intervention_result.show(page.scene)
with maps:
    before_after.draw_change(page.scene, places, theme)
with per_unit:
    leave_one_out.show(page.scene, singly, theme)
with result, report_errors():
    page = next(parts, page)
    intervention_result.show_random(page.scene, change)
with null, report_errors():
    *_, page = (page, *parts)
    null_test.show(page.scene, theme)
with tail:
    attention_worth.notes([question.entry])
    page.save_menus("intervene")
