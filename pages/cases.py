"""Cases: several mechanisms over many rows: who is right where, whether that is chance, and each row to look into."""

from __future__ import annotations

import streamlit as st

from pages.common import (
    case_aside,
    case_list,
    case_rows,
    case_style,
    cases_about,
    compared,
    languages,
    models,
    state,
    style,
    tasks,
)
from pages.common.errors import shown
from triattn_core import records

MECHANISMS = ("bi", "cbi", "tri")
LEAD = "Several mechanisms over many rows: who is right where, is that chance, and what context had to do with it."

head, beside = style.opening()
with beside:
    task = tasks.picker(MECHANISMS)
style.say(head, "Cases", LEAD)
case_style.styled()
tasks.missing(MECHANISMS)
by = languages.by_language(models.shelf(task, MECHANISMS))
sets = {code: compared.presets(there) for code, there in by.items()}
sets = {code: one for code, one in sets.items() if one}
if not sets:
    st.info("Cases need two checkpoints of one task and similarity: see Checkpoints for what is on the shelf.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    spoken = next(iter(sets))
    if len(sets) > 1:
        spoken = state.segments("Language", list(sets), "language", show=records.spoken)
    similarity = state.segments("Similarity", list(sets[spoken]), "similarity")
    names = sets[spoken][similarity]
    chosen = case_rows.pick(set(names), task, spoken)
    st.space("stretch")
    tail = st.container(width="content", key="tail")
here = {card.name: card for card in models.shelf(task)}
with shown():
    mined = case_rows.table(chosen, task, spoken, [here[name] for name in names])
if mined is None:
    st.stop()
with shown():
    examples = cases_about.opened(mined, tail)
left, right = st.container(key="main").columns([2.7, 1], gap="medium")
with left:
    if not mined.judged.empty:
        cases_about.agreed(mined, examples)
    rows = case_list.filtered(mined, examples)
case_aside.listed(mined, rows, examples, left, right)
