"""Intervene: units of the context out, hidden, replaced or moved, another context, other attention."""

from __future__ import annotations

import streamlit as st

from pages.common import asking, cards, change_said, changed, each_alone, export, figures, keeping, nulled, state
from pages.common.errors import shown
from triattn_core.case_card import intervene as scene
from triattn_core.case_card import intervene_said as said
from triattn_core.case_card import intervene_units as parts
from triattn_core.case_card.drawn import placed
from triattn_core.tasks import TASKS
from triattn_core.views import intervened as view

MECHANISMS = ("bi", "cbi", "tri")
LEAD = "Change the context with a click: the new attention, its difference, and what becomes of the answer."

question = asking.opening("Intervene", LEAD, MECHANISMS)
model, theme = question.card.config["model"], asking.theme()
with question.settings:
    how = state.segments("What to do", list(changed.WAYS), "how")
    way = state.segments("With", list(question.words.ways), "unit") if how != "swap" else "turns"
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with tail, st.popover("Keep", width=76, key="keep"):
    keeping.form(question.task, TASKS[question.task].row(question.example), "intervene")
with shown():
    units = parts.units(question, way)
    alone = scene.one_by_one(question, way, how)
    chosen = changed.controls(question, how, way, units, alone)
    wanted = parts.wanted(question, chosen, units, alone)
    beside = scene.beside(question, wanted)
    others = alone is not None and len(wanted.names) < len(units)  # all of them can be chosen in one way only
    lots = scene.random_units(question, wanted) if others else None
for note in beside.notes:
    st.info(note)
st.html(change_said.answers(beside, question))
figures.note(said.changed(beside, wanted, alone, lots))
if lots is not None:
    figures.numbers("The units at random as numbers", lots.rename(columns={"unit": "draw"}), "random-numbers")
if alone is not None:
    each_alone.shown(alone, units, wanted.names, theme)
elif how in ("remove", "mask"):
    figures.note("Tokens are taken out one by one only where there is nothing to choose from: take turns or sentences.")
st.html(cards.section("Attention before and after", "query × key, summed over context"))
with st.container(horizontal=True, vertical_alignment="bottom", key="map-settings"):
    direction = question.words.directions[state.direction(question.words.directions)]
    layer = state.segments("Layer", list(range(1, int(model.get("layers", 2)) + 1)), "layer") - 1
    head = state.pick("Head", ["mean", *range(1, int(model.get("heads", 12)) + 1)], "head", width=84)
    picked = None if head == "mean" else head
before, after, labels, told = scene.maps(beside, f"layer.{layer}/{direction}/weight", picked)
with st.container(horizontal=True, key="maps"):  # below each other where they do not fit
    for i, grid in enumerate(view.apart(before, after, labels, theme)):
        figures.drawn(grid, told, f"map-{i}", width="content")
figures.note(told)
figures.numbers("The maps as numbers", placed(view.cells(before, after, labels)), "map-numbers")
null = nulled.section(question)
with tail:
    option = None if question.option is None else question.option + 1
    where = {"way": direction, "layer": layer + 1, "head": picked, "option": option}
    export.card("intervene", [question.card], question.example, chosen.model_dump() | where | null)
