"""Is this map signal: attention replaced along an axis, over many draws, as a section of a page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.common import asking, cards, figures, state
from pages.common.errors import shown
from triattn_core import records
from triattn_core.analysis.offered import REPLACEMENTS
from triattn_core.case_card.intervene import nulls
from triattn_core.case_card.intervene_said import null
from triattn_core.views import intervened as view


def section(question: asking.Question) -> dict[str, Any]:
    """The pickers, the distribution over draws, and what it says; returns what is chosen, as settings."""
    st.html(cards.section("Is this map signal?", "attention replaced in all layers and both directions, at once"))
    tri = records.model(question.card, "mechanism") == "tri"
    with st.container(horizontal=True, vertical_alignment="bottom", key="null-settings"):
        how = state.segments("Attention becomes", list(REPLACEMENTS), "null", default=1)
        axis = state.segments("Along", ["key", "context"] if tri else ["key"], "along")
        draws = state.segments("Draws", [20, 40, 100], "draws", default=1) if REPLACEMENTS[how].drawn else 1

    with shown():
        found = nulls(question, how, axis, draws)
    said = null(found)
    two = question.option is None
    figures.drawn(view.draws(found.log_odds.tolist(), found.original, asking.theme(), two), said, "null-draws")
    figures.note(said)
    figures.numbers("Draws as numbers", found.rows, "null-numbers")
    return {"null": how, "along": axis, "draws": draws}
