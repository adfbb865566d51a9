"""Intervene: units of the context out, hidden, replaced or moved, another context, other attention."""

from __future__ import annotations

import streamlit as st

from pages.intervene import before_after, intervention_controls, intervention_result, leave_one_out, null_test
from pages.shared import export, figures, page_setup, save_case
from pages.shared.errors import report_errors
from triattn_core.scenes import intervene as scene
from triattn_core.scenes import intervene_text
from triattn_core.tasks import TASKS
from triattn_core.trace.axes import TAN_MECHANISMS

LEAD = "Change the context with a click: the new attention, its difference, and what becomes of the answer."

question = page_setup.opening("Intervene", LEAD, TAN_MECHANISMS)
with question.settings:
    settings = intervention_controls.pick_way(question)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with tail, st.popover("Keep", width=76, key="keep"):
    save_case.form(question.task, TASKS[question.task].row(question.example), "intervene")
result, each, maps, null = (st.container() for _ in range(4))
with maps, report_errors():  # what is known before the model is asked again stands there at once
    settings = before_after.pick_map(question, settings)
    places = before_after.draw_before(scene.Intervention(question, settings), page_setup.theme())
with result, report_errors():
    settings = intervention_controls.pick_units(scene.Intervention(question, settings))
    parts = scene.Intervention(question, settings)
    for note in parts.result.notes:
        st.info(note)
    st.html(intervention_result.headline(scene.describe_result(parts.result)))
    st.html(intervention_result.answers(parts.result, question))
    change = st.empty()
    with change:
        figures.note(intervene_text.describe_change(parts.result, parts.spec, parts.alone))
with maps, report_errors():
    before_after.draw_change(parts, places, page_setup.theme())
with each:
    leave_one_out.show(parts, page_setup.theme())
with result, report_errors():
    if (draws := parts.random) is not None:
        with change:
            figures.note(intervene_text.describe_change(parts.result, parts.spec, parts.alone, draws))
        figures.numbers("The units at random as numbers", draws.rename(columns={"unit": "draw"}), "random-numbers")
with null:
    settings = null_test.section(question, settings)
with tail:
    export.case_card("intervene", [question.entry], question.example, settings.model_dump())
