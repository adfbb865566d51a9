"""Which score learns which task: test accuracy over seeds, from the records."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.shared import checkpoint_html
from triattn_core.results.third_order import MEMBERS, TASKS, Reached, reached
from triattn_core.results.third_order_theory import CLAIMS, MEANING, TWO_WAY, agreement
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up, per_cent

TRAINED = (
    "Scores: one layer of one head, equal width, rate and rows; the additive score has about 30 % more parameters, "
    "triangle attention about 20 %. Two-way attention is named below its number; two layers have 60 to 70 % more "
    "parameters, and on Match3 ten times the rows at a third of the rate."
)


def show() -> None:
    """Shows the table with what is proved of each task."""
    table = reached()
    about = "right rows of 4,000 in per cent, each seed; of a task all have the same number of steps"
    st.html(checkpoint_html.section("Who can learn what", about))
    columns = [*MEMBERS, TWO_WAY]
    names = [*(score.label for score in MEMBERS.values()), TWO_WAY]
    heads = "".join(f'<th class="r">{escape(name)}</th>' for name in ("chance", *names))
    body = ""
    for name in TASKS:
        task, cells = LABORATORY[name], [table.get((name, column)) for column in columns]
        if any(cells):
            chance = half_up(task.baseline()["chance"], 1)
            title = escape(f"Proved: {task.PROVED}", quote=True)
            body += f'<tr><td title="{title}">{escape(task.LABEL)}</td><td class="r t-muted t-num">{chance}</td>'
            body += "".join(_cell(name, column, cell) for column, cell in zip(columns, cells)) + "</tr>"
    st.html(f'<div class="t-scroll"><table class="t-table"><tr><th>task</th>{heads}</tr>{body}</table></div>')
    against = [
        f"{LABORATORY[task].LABEL}, {MEMBERS[score].label if score in MEMBERS else score}: {clause}"
        for (task, score), cell in table.items()
        if (clause := agreement(task, score, cell.accuracy))
    ]
    sources = "; ".join(f"{member.label}: {member.source}" for member in MEMBERS.values())
    notes = [f"{MEANING}; no word: only observed. Hover over a number or a task for the proof.", TRAINED]
    notes += [f"Where training and proof differ. {'. '.join(against)}."] if against else []
    lines = "<br>".join(map(escape, [*notes, f"{sources}."]))
    st.html(
        f'<details class="t-note"><summary>What is proved, how each was trained</summary><div>{lines}</div></details>'
    )


def _cell(task: str, score: str, cell: Reached | None) -> str:
    """A cell of the table: the seeds, and what is proved with its source."""
    claim, title, proved = CLAIMS.get((task, score)), "", ""
    if claim is not None:
        title = f' title="{escape(f"{claim.says}: {claim.why} ({claim.source})", quote=True)}"'
        proved = f'<br><span class="t-muted">{claim.says}</span>'
    if cell is not None and cell.model:
        proved = f'<br><span class="t-muted">{cell.model}</span>'
    return f'<td class="r t-num"{title}>{_seeds(cell)}{proved}</td>'


def _seeds(cell: Reached | None) -> str:
    if cell is None:
        return "–"
    texts = [per_cent(value) for value in cell.accuracy]
    text = ", ".join(texts)
    return f"<b>{text}</b>" if min(cell.accuracy) >= 95 else text
