"""The pickers of COIN: which way it looks, what is ablated, and how its tokens are grouped."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages.shared import token_grouping, url_state
from triattn_core.scenes.coin import Settings
from triattn_core.views.coin.blocks import ablation_label

WAYS = {"A over B": "a_over_b", "B over A": "b_over_a"}
GATE = (
    "COIN's tokens are words, in Chinese characters. A gate is not a share and a score has no sum: neither can be "
    "grouped, so both are shown for tokens only."
)
GATES = ("per token", "per feature")


def pick(parts: Iterable[str]) -> Settings:
    """The settings chosen on the page.  parts: what can be ablated, "" for nothing."""
    direction = WAYS[url_state.direction(WAYS)]
    before = st.container(width="content", key="gates")
    ablated = url_state.segments("Ablate", list(parts), "off", show=ablation_label)
    grouping = token_grouping.controls((token_grouping.COIN,), hide=False, note=GATE)
    with before:
        gate = GATES[0] if grouping.folds else url_state.segments("Gate", GATES, "gate")
    return Settings(direction=direction, off=ablated, features=gate == GATES[1], **token_grouping.of_texts(grouping))
