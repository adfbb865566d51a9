"""Side by side: one pair of sentences under two to four checkpoints, on one colour scale."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.common import compared, explorer, export, inputs, models, style
from pages.common.errors import shown
from triattn_core.analysis import compare
from triattn_core.axes import MECHANISMS
from triattn_core.trace import AttentionTrace
from triattn_core.views import side_by_side as view
from triattn_core.views.canvas import Canvas

LEAD = (
    'One pair under several mechanisms, on one colour scale. Each row shares out one <b class="t-query">query</b> '
    'token\'s attention among the <b class="t-key">key</b> tokens; Tri is its cube, joined over context.'
)


def says(panels, found) -> None:
    """One line: who says what, and how long they took; below it what was cut."""
    lead, label, tail = view.verdict(panels)
    meta = [one.trace.meta for one in found]
    took = f"{1000 * sum(float(one['seconds']) for one in meta):.0f} ms on {str(meta[0]['device']).upper()} for all"
    notes = dict.fromkeys(note for one in found for note in one.prediction.notes)
    st.html(
        f'<div class="t-says"><span>{escape(lead)} <b>{escape(label)}</b>{escape(tail)}</span>'
        f'<span class="t-muted t-num">{escape(took)}</span></div>'
        + "".join(f'<p class="t-note">{escape(note)}</p>' for note in notes)
    )


@st.fragment
def explore(canvas: Canvas, key: str, known: list[range], at: list[int]) -> None:
    """The figure: a click runs this alone, to put the chosen cell into the URL and into `at`, for what is saved."""
    at[:] = explorer.cell(key, explorer.show(canvas, key), known, canvas.payload["cell"])
    explorer.answer(key, {"cell": list(at)})


style.heading("Side by side", LEAD)
cards = models.shelf(task="pairs", mechanisms=tuple(MECHANISMS))
speaks, cards = compared.spoken(cards, prefer="zh")  # the paper's own case is Chinese
pair = inputs.pair(speaks)
said = st.container()
if len(cards) < view.FEWEST:
    st.info("Side by side needs two checkpoints of one task: see Checkpoints for what is on the shelf.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    chosen = compared.several(cards)
    if len(chosen) < view.FEWEST:
        st.info("Choose at least two checkpoints.")
        st.stop()
    *choice, (left, right) = compared.settings(chosen)
    st.space("stretch")
    tail = st.container(width="content", key="tail")
with shown():
    found = [models.explain(card, pair) for card in chosen]
    panels = [compared.panel(one, *choice) for one in found]
    compare.same_tokens([one.weights for one in panels], [one.name for one in panels])
    values = compare.difference(panels[left].drawn, panels[right].drawn)
    gap = view.Gap(left, right, values, compare.jensen_shannon(panels[left].weights, panels[right].weights))
texts, first = dict(found[0].trace.texts), view.first_cell(panels, gap)
caption, at = compared.caption(chosen, *choice), list(first)
known, key = [range(size) for size in panels[0].drawn.shape], explorer.key("side", *texts.values(), choice[0])
with said:
    says(panels, found)
with tail:
    whole = {f"{one.card.name}/{site}": array for one in found for site, array in one.trace.sites.items()}
    export.menu(
        "side-by-side",
        key,
        lambda: view.figure(panels, gap, texts, tuple(at), caption),
        lambda: view.table(panels, gap, texts),
        AttentionTrace(whole, texts, {"checkpoints": ", ".join(one.card.name for one in found)}),
    )
explore(view.figure(panels, gap, texts, first, caption), key, known, at)
