"""The pickers of the cube: layer, direction, head, quantity, how tokens are grouped, and which are hidden."""

from __future__ import annotations

import streamlit as st

from pages.shared import token_grouping, url_state
from pages.shared.page_setup import Opened
from triattn_core.inference import stored_traces
from triattn_core.scenes.cube import Settings
from triattn_core.sources.explanation import Explanation


def pick(top: Opened, explanation: Explanation | None) -> Settings:
    """The chosen settings.  explanation: the model's prediction and trace, if there are any."""
    words, model = top.words, top.entry.config["model"]
    costly = stored_traces.costliest(top.entry, top.example, 0)
    first = list(words.directions.values()).index(costly[0].role) if costly else 0
    direction = words.directions[url_state.direction(words.directions, first)]

    def opens(layer: int) -> int | None:
        if explanation is None:
            return None
        if costs := stored_traces.costliest(top.entry, top.example, layer, direction):
            return costs[1]
        return first_head(explanation.trace, repr(explanation.source), direction, layer)

    choice = url_state.site(direction, int(model.get("layers", 2)), int(model.get("heads", 12)), opens)
    units = (*words.units, *(unit for unit in ("phrases", "words") if unit not in words.units))
    context = token_grouping.Pick("Context as", "context", ("context",), units)
    grouping = token_grouping.controls((token_grouping.QUERY, token_grouping.KEY, context))
    option = explanation.prediction.option + 1 if explanation and not top.pairs else None
    return Settings(**Settings.of(choice, **grouping.settings, option=option))


@st.cache_data(max_entries=64, show_spinner=False)
def first_head(_trace, source: str, direction: str, layer: int) -> int | None:
    """The head that is shown first: the one whose keys depend most on the context in this example."""
    from triattn_core.analysis.maps.strongest_head import most_context

    return most_context(_trace, layer, direction)
