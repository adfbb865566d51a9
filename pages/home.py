"""Home: what this is, a worked example of each page, the shelf, and the machine.

What needs a model is drawn last: the first page must not wait for it.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.common import cards, links, models, style, worked
from pages.common.errors import shown
from triattn_core import records
from triattn_core.axes import MECHANISMS

style.heading(
    "triattn",
    "Attention asks how much one word looks at another; Tri-Attention asks it in the light of a third, so its weights "
    "are a cube: query × key × context. These pages run trained models on your own text and show what each of them "
    "looked at, beside the two-way attentions it was made to improve. Everything below is a real example: open one, "
    "then change its words.",
    intro=True,
)


def shelf(found) -> str:
    """HTML: a line for what may be compared."""
    size = sum(card.size for card in found)
    lines = []
    for (task, data, language), group in records.groups(found).items():
        labels = {records.model(card, "mechanism"): cards.label(card) for card in group}
        kinds = sorted(labels, key=[*MECHANISMS, *sorted(labels)].index)
        squares = "".join(f'<span class="t-item">{style.swatch(m)}{escape(labels[m])}</span>' for m in kinds)
        similarities = len({records.model(card, "similarity") for card in group})
        best = f"{cards.percent(records.score(group[0]))} {records.metric_name(group[0])}"
        cells = (escape(task), squares, str(similarities), escape(data), escape(language), escape(best))
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    names = ("task", "mechanisms", "similarities", "data", "language", "test, of the best on dev")
    head = "".join(f"<th>{name}</th>" for name in names)
    aside = f"{len(found)} checkpoints, {cards.megabytes(size)}" if found else "no checkpoint yet: train one first"
    table = f'<table class="t-table"><tr>{head}</tr>{"".join(lines)}</table>' if found else ""
    return cards.section("The shelf", aside) + f'<div class="t-scroll">{table}</div>'


st.html(
    '<p class="t-lead"><b>Worked examples</b> <span class="t-muted">each opens its page, everything drawn</span></p>'
)
columns = st.container(key="worked").columns(max(3, len(worked.PAGES)), gap="medium")
fills = [worked.place(page, column) for page, column in zip(worked.PAGES, columns)]
with st.container(key="main"):
    links.questions()
    links.examples()
    left, right = st.columns([2.7, 1], gap="medium")
left.html(shelf(models.shelf()))
with right.container(key="aside"), shown(stop=False):
    slot = st.skeleton(height=200)
    slot.html(cards.machine(models.device()))
for fill in fills:
    with shown(stop=False):
        fill()
