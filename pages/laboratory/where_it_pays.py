"""Where a relation of three pays, and where it does not: the tasks, with what Tri and others reach."""

from __future__ import annotations

from html import escape
from statistics import mean

import streamlit as st

from pages.shared import checkpoint_html
from triattn_core.results.where_it_pays import ROLES, Scores, is_single, lead, leader, rows
from triattn_core.views.lib.number_format import half_up

HEADS = ("task", "are three needed to single out the cell?", *(f"{role}, %" for role in ROLES), "seeds", "Tri is")
AHEAD = (
    "Ahead: every seed of Tri is above every seed of the others, by the difference of the means. Pairwise scores and "
    "two-way attention are of matched size and trained in as many steps where nothing else is said; triangle attention "
    "has 19 % more parameters and is told which facts share a person. The documentation (Results) says what each row "
    "is bound by, and python -m docs.tables.third_order makes the table."
)


def show() -> None:
    """A row a task, those without a lead too."""
    if table := _table():
        st.html(checkpoint_html.section("Where a relation of three pays", "and where it does not"))
        st.html(table)
        st.html(f'<p class="t-note">{escape(AHEAD)}</p>')


@st.cache_resource(show_spinner=False)
def _table() -> str:
    """HTML; empty without records."""
    body = "".join(_row(*row) for row in rows())
    heads = "".join(f"<th{' class=r' if name.endswith('%') else ''}>{escape(name)}</th>" for name in HEADS)
    return f'<div class="t-scroll"><table class="t-table"><tr>{heads}</tr>{body}</table></div>' if body else ""


def _row(task: str, needed: str, scores: Scores) -> str:
    means = [half_up(mean(scores[role]), 1) if scores.get(role) else "" for role in ROLES]
    seeds = ", ".join(str(len(scores[role])) for role in ROLES if scores.get(role))
    cells = "".join(f'<td class="r">{value}</td>' for value in means)
    whole = "".join(f'<td style="white-space: nowrap">{text}</td>' for text in (seeds, _verdict(task, scores)))
    return f"<tr><td>{escape(task)}</td><td>{escape(needed)}</td>{cells}{whole}</tr>"


def _verdict(task: str, scores: Scores) -> str:
    if (points := lead(scores)) is None:
        return '<span class="t-muted">not ahead</span>'
    text = f"ahead by {half_up(points, 1)}"
    if (name := leader(task)) != ROLES[0]:
        return f"{name} {text}"
    return f'<span class="t-muted">{text}: one seed, not shown</span>' if is_single(scores) else f"<b>{text}</b>"
