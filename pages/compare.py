"""Compare: checkpoints of a task over many rows, how they were trained, and what in their settings differs."""

from __future__ import annotations

import streamlit as st

from pages.common import (
    cards,
    case_aside,
    case_rows,
    case_style,
    cases_about,
    compared,
    flips,
    inputs,
    models,
    state,
    style,
    tasks,
)
from pages.common.errors import shown
from triattn_core import records
from triattn_core.analysis import agreement
from triattn_core.tasks import TASKS
from triattn_core.views import side_by_side as view

MAPS = ("bi", "cbi", "tri")  # whose weights run from query to key
LEAD = "Any two to four checkpoints of one task: how alike they answer, who flips where, and how they came about."

head, beside = style.opening()
style.say(head, "Compare", LEAD)
case_style.styled()
there = [name for name in TASKS if len(models.shelf(name)) >= view.FEWEST]
if not there:
    st.info("Compare needs two checkpoints of one task: see Checkpoints for what is on the shelf.")
    st.stop()
with beside:
    task = state.segments("Task", there, tasks.KEY, show=tasks.label, label_visibility="collapsed")
speaks, here = compared.spoken(models.shelf(task), prefer="en")
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    if len(speaks.takes) > 1:
        inputs.language(speaks)
    chosen = compared.several(here)
    if len(chosen) < view.FEWEST:
        st.info("Choose at least two checkpoints.")
        st.stop()
    rows = case_rows.pick({card.name for card in chosen})
    st.space("stretch")
    tail = st.container(width="content", key="tail")
mined = None
with shown(stop=False):
    mined = case_rows.table(rows, task, speaks.now, chosen)
if mined is not None:
    with shown():
        examples = cases_about.opened(mined, tail)
    left, right = st.container(key="main").columns([2.7, 1], gap="medium")
    with left:
        st.html(flips.reached(mined) + flips.pairs(mined))
        st.html(cards.section("Who flips", flips.WHICH[agreement.judged_by(mined)]))
        some = flips.rows(mined)
    if len(some):
        case_aside.listed(mined, some, examples, left, right)
with st.container(horizontal=True, key="elsewhere"):
    if task in tasks.TASKS and all(records.model(card, "mechanism") in MAPS for card in chosen):
        query = {compared.KEY: [card.name for card in chosen]}
        st.page_link("pages/side_by_side.py", label="One input: their maps side by side", query_params=query)
config, loss = st.columns([1.15, 1], gap="large")
with config:
    st.html(cards.section("Settings", "what differs"))
    differing, equal = cards.differing(*chosen)
    st.html(differing)
    with st.expander(f"{len(equal)} other settings are equal"):
        st.html(cards.facts([(name, str(setting)) for name, setting in equal.items()]))
with loss:
    flips.losses(chosen)
