"""Which score learns which task: test accuracy over seeds, from the records."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.shared import checkpoint_html
from triattn_core.results.third_order import FAMILY, TASKS, TWO_WAY, Reached, reached
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up


def show() -> None:
    """Shows the table with what is proved of each task."""
    table = reached()
    about = "right rows of 4,000 in per cent, each seed; one layer, equal steps, size and rate"
    st.html(checkpoint_html.section("Who can learn what", about))
    columns = [*FAMILY, TWO_WAY]
    names = [*(score.label for score in FAMILY.values()), TWO_WAY]
    heads = "".join(f'<th class="r">{escape(name)}</th>' for name in ("chance", *names))
    body = ""
    for name in TASKS:
        task, cells = LABORATORY[name], [table.get((name, column)) for column in columns]
        if any(cells):
            chance = half_up(task.baseline()["chance"], 1)
            title = escape(f"Proved: {task.PROVED}", quote=True)
            body += f'<tr><td title="{title}">{escape(task.LABEL)}</td><td class="r t-muted t-num">{chance}</td>'
            body += "".join(f'<td class="r t-num">{_seeds(cell)}</td>' for cell in cells) + "</tr>"
    st.html(f'<div class="t-scroll"><table class="t-table"><tr><th>task</th>{heads}</tr>{body}</table></div>')
    sources = "; ".join(f"{score.label}: {score.source}" for score in FAMILY.values())
    st.html(f'<p class="t-note">{escape(sources)}. Hover over a task for what is proved of it.</p>')


def _seeds(cell: Reached | None) -> str:
    if cell is None:
        return "–"
    texts = ["100" if value == 100 else half_up(value, 1) for value in cell.accuracy]
    text = ", ".join(texts)
    return f"<b>{text}</b>" if min(cell.accuracy) >= 95 else text
