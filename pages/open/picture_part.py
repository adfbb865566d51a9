"""Of a vision transformer: the weights of one query over the picture; a click on a patch lets that one ask."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.shared import figures, style, url_state
from triattn_core.scenes.two_way_map import Settings
from triattn_core.trace import AttentionTrace
from triattn_core.trace.sites import two_way_weights
from triattn_core.views.charts import picture as view

ASKS = "asks"  # in the URL: the token whose weights are shown


def is_shown(trace: AttentionTrace, settings: Settings) -> bool:
    """Whether the chosen map is of patches over patches."""
    site = settings.site and settings.site.with_quantity("weight")
    return "picture" in trace.meta and site in trace.sites and "key_patch_row" in trace.site(site).coords


def explore(trace: AttentionTrace, settings: Settings) -> None:
    """Shows the picture and, over it, the weights of one query in the chosen head, or in the mean of heads."""
    assert settings.site is not None
    weights = two_way_weights(trace, settings.site.with_quantity("weight"))
    weights = weights.mean("head", keep_attrs=True) if settings.head is None else weights[settings.head - 1]
    names = [str(name) for name in weights["query_token"].values]
    chosen = url_state.pick("Token that asks", names, ASKS, 0, width=150)
    at = names.index(chosen)

    def take() -> None:
        if selected := st.session_state["picture"].selection.get(view.SELECTS):
            st.session_state[ASKS] = names[int(selected[0]["at"])]

    row, patched = weights[at], "query_patch_row" in weights.coords and int(weights["query_patch_row"][at]) >= 0
    sentence = view.describe(row, chosen)
    chart = partial(view.figure, row, str(trace.meta["picture"]), at if patched else -1, style.theme())
    figures.show(chart, sentence, "picture", on_select=take, selection_mode=view.SELECTS, width="content")
    figures.note(sentence + " Click a patch to let it ask.")
