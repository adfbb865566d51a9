"""The maps of an intervention: the one before as soon as it is known, then the one after and the difference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import checkpoint_html, figures, page_setup, url_state
from triattn_core.scenes.intervene import InterveneScene
from triattn_core.scenes.intervene_parts import Intervention
from triattn_core.scenes.intervene_settings import Settings
from triattn_core.views.charts import intervention as view

BEFORE = "Attention before (query × key, summed over context); the map after is being computed."
COMPLETE = "maps drawn of"  # in the session: the question of which all three maps have been drawn


def pick_map(question: page_setup.PageQuestion, settings: Settings) -> Settings:
    """The heading, and the pickers of direction, layer and head."""
    st.html(checkpoint_html.section("Attention before and after", "query × key, summed over context"))
    model = question.entry.config["model"]
    with st.container(horizontal=True, vertical_alignment="bottom", key="map-settings"):
        direction = question.words.directions[url_state.direction(question.words.directions)]
        layer = url_state.segments("Layer", list(range(1, int(model.get("layers", 2)) + 1)), "layer")
        head = url_state.pick("Head", ["mean", *range(1, int(model.get("heads", 12)) + 1)], "head", width=84)
    option = None if question.option is None else question.option + 1
    updates = {"direction": direction, "layer": layer, "head": None if head == "mean" else head, "option": option}
    return settings.model_copy(update=updates)


def draw_before(parts: Intervention, theme: str) -> Sequence[DeltaGenerator]:
    """The places of the three maps, below each other where they do not fit; of a new question the first is drawn."""
    with st.container(horizontal=True, key="maps"):
        places = [st.container(width="content") for _ in range(3)]
    if st.session_state.get(COMPLETE) != _question_key(parts):  # what is drawn already stays until all is drawn anew
        places[0] = places[0].empty()
        before, labels = parts.before
        with places[0]:
            chart = partial(view.separate_map, 0, before, before, labels, theme)
            figures.show(chart, BEFORE, "map-before", width="content")
    return places


def _question_key(parts: Intervention) -> tuple:
    return parts.question.entry.digest, parts.question.example, parts.question.option


def draw_change(scene: InterveneScene, places: Sequence[DeltaGenerator], theme: str) -> None:
    """All three maps, what they say, and their numbers."""
    before, after, labels, sentence = scene.intervention.maps
    for number, place in enumerate(places):
        with place:
            chart = partial(view.separate_map, number, before, after, labels, theme)
            figures.show(chart, sentence, f"map-{number}", width="content")
    st.session_state[COMPLETE] = _question_key(scene.intervention)
    figures.note(sentence)
    figures.numbers("The maps as numbers", scene.panels["maps"].rows, "map-numbers")
