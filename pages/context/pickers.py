"""The pickers of Context: which head is taken apart, and in which order the heads stand."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import kept_cell, page_setup, url_state
from pages.shared.errors import report_errors
from triattn_core.scenes.context import Settings, most_redirecting
from triattn_core.views.lib.strongest import SMALL


def pick(question: page_setup.PageQuestion) -> Settings:
    """The chosen settings; by default the layer and head where context redirects most.

    Stops the page without a cube.
    """
    directions, model = question.words.directions, question.entry.config["model"]
    direction = directions[url_state.direction(directions)]
    with report_errors():
        first = most_redirecting(question, direction)
    layers, heads = (list(range(1, int(model.get(name, count)) + 1)) for name, count in (("layers", 2), ("heads", 12)))
    layer = url_state.segments("Layer", layers, "layer", first[0] - 1)
    head = url_state.pick("Head", heads, "head", first[1] - 1, width=84)
    head_order = url_state.segments("Heads by", ["number", "context"], "by")
    return Settings(
        direction=direction, layer=layer, head=head, by=head_order, option=page_setup.option_number(question)
    )


def pick_token(words: Sequence[str], first: int) -> int:
    """Position of the context token of the residual, from 0, as Intervene and the commands count it."""
    places, labels = list(range(len(words))), [f"{place}  {word}" for place, word in enumerate(words)]
    linked = st.query_params.get("at", "")
    if url_state.is_first_run() and linked.isdecimal() and int(linked) in places:  # a position alone
        url_state.forget("at")
        st.session_state["at"] = int(linked)
    kept_cell.keep_token("at", {place: word.rstrip(SMALL) for place, word in enumerate(words)}, first)
    show = lambda place: labels[place] if place in places else str(place)  # noqa: E731
    return url_state.pick("Context token", places, "at", first, show=show, width=190)
