"""Is this map signal: attention replaced along an axis, over many draws, as a section of a page."""

from __future__ import annotations

import streamlit as st

from pages.shared import checkpoint_html, figures, page_setup, url_state
from pages.shared.errors import report_errors
from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.checkpoint import metadata
from triattn_core.scenes.intervene import Intervention, Settings
from triattn_core.scenes.intervene_text import describe_null
from triattn_core.views.charts import intervention as view


def section(question: page_setup.Question, settings: Settings) -> Settings:
    """The pickers, the distribution over draws, and what it says; returns the settings with what is chosen."""
    st.html(
        checkpoint_html.section("Is this map signal?", "attention replaced in all layers and both directions, at once")
    )
    tri = metadata.model_setting(question.entry, "mechanism") == "tri"
    with st.container(horizontal=True, vertical_alignment="bottom", key="null-settings"):
        how = url_state.segments("Attention becomes", list(REPLACEMENTS), "null", default=1)
        axis = url_state.segments("Along", ["key", "context"] if tri else ["key"], "along")
        draws = url_state.segments("Draws", [20, 40, 100], "draws", default=1) if REPLACEMENTS[how].drawn else 1

    settings = settings.model_copy(update={"null": how, "along": axis, "draws": draws})
    with report_errors():
        nulls = Intervention(question, settings).nulls
    sentence = describe_null(nulls)
    two = question.option is None
    figures.show(view.draws(nulls.log_odds.tolist(), nulls.original, page_setup.theme(), two), sentence, "null-draws")
    figures.note(sentence)
    figures.numbers("Draws as numbers", nulls.rows, "null-numbers")
    return settings
