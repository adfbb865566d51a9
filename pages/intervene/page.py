"""Intervene: units of the context out, hidden, replaced or moved, another context, other attention."""

from __future__ import annotations

import streamlit as st

from pages.intervene import intervention_controls, intervention_result, leave_one_out, null_test
from pages.shared import attention_worth, checkpoint_html, export, figures, page_setup, save_case, url_state
from pages.shared.errors import shown
from triattn_core.scenes import intervene as scene
from triattn_core.scenes import intervene_text as said
from triattn_core.scenes import intervene_units as parts
from triattn_core.scenes.scene import with_positions
from triattn_core.tasks import TASKS
from triattn_core.trace.axes import TAN_MECHANISMS
from triattn_core.views.charts import intervention as view

LEAD = "Change the context with a click: the new attention, its difference, and what becomes of the answer."

question = page_setup.opening("Intervene", LEAD, TAN_MECHANISMS)
model, theme = question.card.config["model"], page_setup.theme()
with question.settings:
    how = url_state.segments("What to do", list(intervention_controls.WAYS), "how")
    way = url_state.segments("With", list(question.words.ways), "unit") if how != "swap" else "turns"
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with tail, st.popover("Keep", width=76, key="keep"):
    save_case.form(question.task, TASKS[question.task].row(question.example), "intervene")
with shown():
    units = parts.units(question, way)
    alone = scene.one_by_one(question, way, how)
    chosen = intervention_controls.controls(question, how, way, units, alone)
    wanted = parts.intervention_spec(question, chosen, units, alone)
    beside = scene.run_intervention(question, wanted)
    others = alone is not None and len(wanted.names) < len(units)  # all of them can be chosen in one way only
    lots = scene.random_units(question, wanted) if others else None
for note in beside.notes:
    st.info(note)
st.html(intervention_result.headline(scene.describe_result(beside)))
st.html(intervention_result.answers(beside, question))
figures.note(said.describe_change(beside, wanted, alone, lots))
if lots is not None:
    figures.numbers("The units at random as numbers", lots.rename(columns={"unit": "draw"}), "random-numbers")
if alone is not None:
    leave_one_out.show_units(alone, units, wanted.names, theme)
elif how in ("remove", "mask"):
    figures.note("Tokens are taken out one by one only where there is nothing to choose from: take turns or sentences.")
st.html(checkpoint_html.section("Attention before and after", "query × key, summed over context"))
attention_worth.notes([question.card])
with st.container(horizontal=True, vertical_alignment="bottom", key="map-settings"):
    direction = question.words.directions[url_state.direction(question.words.directions)]
    layer = url_state.segments("Layer", list(range(1, int(model.get("layers", 2)) + 1)), "layer") - 1
    head = url_state.pick("Head", ["mean", *range(1, int(model.get("heads", 12)) + 1)], "head", width=84)
    picked = None if head == "mean" else head
before, after, labels, told = scene.maps(beside, f"layer.{layer}/{direction}/weight", picked)
with st.container(horizontal=True, key="maps"):  # below each other where they do not fit
    for i, grid in enumerate(view.apart(before, after, labels, theme)):
        figures.drawn(grid, told, f"map-{i}", width="content")
figures.note(told)
figures.numbers("The maps as numbers", with_positions(view.cells(before, after, labels)), "map-numbers")
null = null_test.section(question)
with tail:
    option = None if question.option is None else question.option + 1
    where = {"way": direction, "layer": layer + 1, "head": picked, "option": option}
    export.card("intervene", [question.card], question.example, chosen.model_dump() | where | null)
