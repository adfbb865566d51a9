"""What each unit of the context does alone: to the answer and to the attention, one above the other."""

from __future__ import annotations

import streamlit as st

from pages.shared import checkpoint_html, figures
from triattn_core.scenes import intervene_text
from triattn_core.scenes.intervene import Intervention
from triattn_core.views.charts import intervention as view

ANSWER = "change of the log-odds of the answer without it; the chosen ones are framed"
NOT_ASKED = "Single tokens are left out one at a time for sentence pairs only: take turns or sentences."
ATTENTION = "bits that the attention moves without it; mean of query tokens, heads, layers and both directions"


def show(parts: Intervention, theme: str) -> None:
    """Bars, sentences and numbers; of tokens of one among several options why there are none."""
    alone, units, chosen = parts.alone, parts.units, parts.spec.names
    if alone is None:
        if parts.settings.how in ("remove", "mask"):
            figures.note(NOT_ASKED)
        return
    labels = [units[name] for name in alone["unit"]]
    st.html(checkpoint_html.section("Each alone", ANSWER))
    sentence = intervene_text.describe_each(alone, units)
    if intervene_text.changes_answer(alone):
        figures.show(view.singly(alone, labels, chosen, theme), sentence, "singly")
    figures.note(sentence)
    st.html(checkpoint_html.section("Each alone, attention", ATTENTION))
    sentence = intervene_text.describe_each_shift(alone, units)
    if intervene_text.moves_attention(alone):
        figures.show(view.singly(alone, labels, chosen, theme, what="moved"), sentence, "singly-moved")
    figures.note(sentence)
    figures.numbers("Each alone as numbers", alone.assign(text=labels), "alone-numbers")
