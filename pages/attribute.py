"""Attribute: which tokens made the model say this, by several methods, and which of the methods can be believed."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.common import agreed, asking, attributed, attributed_long, believed, figures, keeping, state
from pages.common.errors import shown
from triattn_core.tasks import TASKS

MECHANISMS = ("bi", "cbi", "tri")
LEAD = "Which tokens made the model say this: several methods on one scale, and a test of which can be believed."


def attribute(question: asking.Question, steps: int):
    """What the methods give each token, and the log-odds of the answer."""

    def run(bundle):
        from triattn_core.analysis import methods
        from triattn_core.analysis.asked import ask, log_odds

        one = ask(bundle, question.example, question.option)
        return methods.attribute(one, steps=steps), float(log_odds(one.scores[None], one.answer))

    says = f"Integrated gradients in {steps} steps, and four more"
    return asking.answer(question.card, says, run, "attribute", question.example, question.option, steps)


question = asking.opening("Attribute", LEAD, MECHANISMS)
with question.settings:
    steps = state.segments("Steps of the path", [16, 32, 64], "steps", default=1)
    fold = state.segments("Shown as", ["words", "word pieces"], "fold")
    st.space("stretch")
    with st.popover("Keep", width=76, key="keep"):
        keeping.form(question.task, TASKS[question.task].row(question.example), "attribute")
with shown():
    pieces, odds = attribute(question, steps)
found = pieces.words() if fold == "words" else pieces
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
    figures.note(attributed.said(found.table, shares))
    rows = pd.concat([found.table.drop(columns=list(found.methods)), shares.add_suffix(", share")], axis=1)
    rows = pd.concat([rows, found.table[list(found.methods)]], axis=1)
    figures.numbers(f"All {len(rows):,} attributions as numbers", rows, "numbers")
with right:
    place, names = st.container(), {"all": "all", **question.names, "context": "context"}
    opens = list(names).index("context" if (found.table["role"] == "context").any() else "query")
    role = state.segments("Ranks over the tokens of", list(names), "ranks", opens, show=names.__getitem__)
ranked = found if role == "all" else replace(found, table=found.table[found.table["role"] == role])
place.html(agreed.ranks(ranked.correlations(), int((ranked.table["special"] == 0).sum()), theme, role == "all"))
right.html(agreed.completeness(found.table["integrated gradients"], found.gap, odds))
method = believed.one(question, pieces, steps, method)
believed.over(question, method)
