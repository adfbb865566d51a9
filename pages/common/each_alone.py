"""What each unit of the context does alone: to the answer and to the attention, one above the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from pages.common import cards, figures
from triattn_core.case_card import intervene_said as said
from triattn_core.views import intervened as view

ANSWER = "change of the log-odds of the answer without it; the chosen ones are framed"
ATTENTION = "bits that the attention moves without it; mean of query tokens, heads, layers and both directions"


def shown(alone: pd.DataFrame, units: Mapping[str, str], chosen: Sequence[str], theme: str) -> None:
    """Bars, sentences and numbers.  alone: of `one_by_one.each`.  units: the text of each by its name."""
    labels = [units[name] for name in alone["unit"]]
    st.html(cards.section("Each alone", ANSWER))
    told = said.each(alone, units)
    figures.drawn(view.singly(alone, labels, chosen, theme), told, "singly")
    figures.note(told)
    st.html(cards.section("Each alone, attention", ATTENTION))
    told = said.each_moved(alone, units)
    if said.moves(alone):
        figures.drawn(view.singly(alone, labels, chosen, theme, what="moved"), told, "singly-moved")
    figures.note(told)
    figures.numbers("Each alone as numbers", alone.assign(text=labels), "alone-numbers")
