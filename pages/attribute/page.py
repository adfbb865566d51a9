"""Attribute: which tokens drive the prediction, by several methods, with tests of their faithfulness."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.attribute import attribution_agreement, attribution_stream, faithfulness
from pages.shared import export, figures, page_setup, save_case, url_state
from pages.shared.errors import shown
from triattn_core.scenes import attribute as scene
from triattn_core.tasks import TASKS
from triattn_core.trace.axes import TAN_MECHANISMS
from triattn_core.views.charts import attribution as view

LEAD = "Which tokens drive the prediction? Several attribution methods on one scale, with faithfulness tests."


question = page_setup.opening("Attribute", LEAD, TAN_MECHANISMS)
with question.settings:
    steps = url_state.segments("Steps of the path", [16, 32, 64], "steps", default=1)
    fold = url_state.segments("Shown as", ["words", "word pieces"], "fold")
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with tail, st.popover("Keep", width=76, key="keep"):
    save_case.form(question.task, TASKS[question.task].row(question.example), "attribute")
theme = page_setup.theme()
with st.container(key="main"):
    left, right = st.columns([3, 1.15], gap="medium")
with left, shown():
    found, odds, method = attribution_stream.show_methods(question, steps, fold, theme)
shares = found.shares()
with left:
    figures.note(view.said(found.table, shares, question.names))
    rows = partial(scene.rows, found, question.names)
    figures.numbers(f"All {len(shares):,} attributions as numbers", rows, "numbers")
with right:
    place, names = st.container(), {"all": "all", **question.names, "context": "context"}
    opens = list(names).index(scene.first_role(found))
    role = url_state.segments("Ranks over the tokens of", list(names), "ranks", opens, show=names.__getitem__)
ranked = scene.select_role(found, role)
place.html(
    attribution_agreement.show_rank_correlation(ranked.correlations(), scene.describe_agreement(ranked, role), theme)
)
right.html(attribution_agreement.completeness(view.completeness(found.table["integrated gradients"], found.gap, odds)))
method = faithfulness.show_example_curves(question, steps, method)
with tail:
    option = None if question.option is None else question.option + 1
    chosen = {"steps": steps, "fold": fold, "ranks": role, "method": method, "option": option}
    export.card("attribute", [question.card], question.example, chosen)
faithfulness.show_over_rows(question, method)
