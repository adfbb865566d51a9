"""Is this map signal: attention replaced along an axis, over many draws, as a section of a page."""

from __future__ import annotations

import streamlit as st

from pages.shared import checkpoint_html, figures, page_setup, url_state
from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.checkpoint import metadata
from triattn_core.scenes.intervene import InterveneScene, Settings


def asked_by_link() -> bool:
    """Whether a link that led here asks this question: then the section stands first, until the page is left."""
    if url_state.is_first_run():
        st.session_state["null_first"] = "null" in st.query_params
    return st.session_state.get("null_first", False)


def pick(question: page_setup.Question, settings: Settings) -> Settings:
    """The heading and the pickers; returns the settings with what is chosen."""
    st.html(
        checkpoint_html.section("Is this map signal?", "attention replaced in all layers and both directions, at once")
    )
    tri = metadata.model_setting(question.entry, "mechanism") == "tri"
    with st.container(horizontal=True, vertical_alignment="bottom", key="null-settings"):
        offered = [how for how, replaced in REPLACEMENTS.items() if tri or not replaced.fixed]
        how = url_state.segments("Attention becomes", offered, "null", default=1)
        axes = ["key", "context"] if tri else ["key"]
        axis = "key" if REPLACEMENTS[how].fixed else url_state.segments("Along", axes, "along")
        draws = url_state.segments("Draws", [20, 40, 100], "draws", default=1) if REPLACEMENTS[how].drawn else 1
    return settings.model_copy(update={"null": how, "along": axis, "draws": draws})


def show(scene: InterveneScene, theme: str) -> None:
    """The distribution over draws, and what it says."""
    panel = scene.panels["draws"]
    figures.show(panel.draw(theme=theme), panel.sentence, "null-draws")
    figures.note(panel.sentence)
    figures.numbers("Draws as numbers", panel.rows, "null-numbers")
