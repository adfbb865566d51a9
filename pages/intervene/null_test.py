"""Is this map signal: attention replaced along an axis, over many draws, as a section of a page."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.shared import checkpoint_html, figures, page_setup, url_state
from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.checkpoint import metadata
from triattn_core.scenes.intervene import InterveneScene
from triattn_core.scenes.intervene_settings import Settings


def asked_by_link() -> bool:
    """Whether the link has a `null` parameter: then the section comes first until you leave the page."""
    if url_state.is_first_run():
        st.session_state["null-test-first"] = "null" in st.query_params
    return st.session_state.get("null-test-first", False)


def pick(question: page_setup.PageQuestion, settings: Settings) -> Settings:
    """Shows the heading and the pickers; returns the settings with the choices."""
    st.html(
        checkpoint_html.section("Is this map signal?", "attention replaced in all layers and both directions, at once")
    )
    tri = metadata.model_setting(question.entry, "mechanism") == "tri"
    with st.container(horizontal=True, vertical_alignment="bottom", key="null-settings"):
        options = [replacement for replacement, spec in REPLACEMENTS.items() if tri or not spec.fixed]
        if st.query_params.get("null") == "uniform":  # in links by the names of settings
            st.query_params["null"] = _name("uniform")
            st.rerun()
        replacement = url_state.segments("Attention becomes", options, "null", default=1, show=_name)
        axes = ["key", "context"] if tri else ["key"]
        axis = "key" if REPLACEMENTS[replacement].fixed else url_state.segments("Along", axes, "along")
        is_random = REPLACEMENTS[replacement].is_random
        draws = url_state.segments("Draws", [20, 40, 100], "draws", default=1) if is_random else 1
    return settings.model_copy(update={"null": replacement, "along": axis, "draws": draws})


def _name(replacement: str) -> str:
    """What a replacement is called here, where "even" stands beside it."""
    return "averaged" if replacement == "uniform" else replacement


def show(scene: InterveneScene, theme: str) -> None:
    """The distribution over draws, and what it says."""
    panel = scene.panels["draws"]
    figures.show(partial(panel.draw, theme=theme), panel.sentence, "null-draws")
    figures.note(panel.sentence)
    figures.numbers("Draws as numbers", panel.rows, "null-numbers")
