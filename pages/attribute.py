"""Attribute: which tokens made the model say this, by several methods, and which of the methods can be believed."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.common import agreed, asking, attributed, attributed_long, believed, export, figures, keeping, state
from pages.common.errors import shown
from triattn_core.case_card import attribute as scene
from triattn_core.tasks import TASKS
from triattn_core.views import attributed as view

MECHANISMS = ("bi", "cbi", "tri")
LEAD = "Which tokens made the model say this: several methods on one scale, and a test of which can be believed."


question = asking.opening("Attribute", LEAD, MECHANISMS)
with question.settings:
    steps = state.segments("Steps of the path", [16, 32, 64], "steps", default=1)
    fold = state.segments("Shown as", ["words", "word pieces"], "fold")
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with tail, st.popover("Keep", width=76, key="keep"):
    keeping.form(question.task, TASKS[question.task].row(question.example), "attribute")
with shown():
    pieces, odds = scene.attributions(question, steps)
found = scene.shown(pieces, fold)
shares, theme = found.shares(), asking.theme()
with st.container(key="main"):
    left, right = st.columns([3, 1.15], gap="medium")
long, method = attributed_long.needed(found.table), None
with left:
    if long:
        st.html(attributed_long.heading())
        method = state.segments("Method", list(found.methods), "method", label_visibility="collapsed")
        st.html(attributed_long.marks(found.table, shares, question.names, steps, theme, method))
    else:
        st.html(attributed.marks(found.table, shares, question.names, steps, theme))
    figures.note(view.said(found.table, shares, question.names))
    rows = partial(scene.rows, found, question.names)
    figures.numbers(f"All {len(shares):,} attributions as numbers", rows, "numbers")
with right:
    place, names = st.container(), {"all": "all", **question.names, "context": "context"}
    opens = list(names).index(scene.opens(found))
    role = state.segments("Ranks over the tokens of", list(names), "ranks", opens, show=names.__getitem__)
ranked = scene.of_role(found, role)
place.html(agreed.ranks(ranked.correlations(), scene.said_of_ranks(ranked, role), theme))
right.html(agreed.completeness(view.completeness(found.table["integrated gradients"], found.gap, odds)))
method = believed.one(question, steps, method)
with tail:
    option = None if question.option is None else question.option + 1
    chosen = {"steps": steps, "fold": fold, "ranks": role, "method": method, "option": option}
    export.card("attribute", [question.card], question.example, chosen)
believed.over(question, method)
