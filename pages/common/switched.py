"""COIN as it is and with each of its parts switched off: computed once for an example, kept, shared by all sessions."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.common import models
from triattn_core.case_card.explained import without
from triattn_core.device import memory_guard
from triattn_core.shelf import Card


def explained(card: Card, example: Any) -> dict[str, models.Explained]:
    """What a COIN makes of an example, by what is off: "" (nothing), `layer.0`, …, `context`.  Raises TriattnError."""
    whole = models.explain(card, example)
    return _without(repr(whole.source), whole, example)


@st.cache_resource(max_entries=32, show_spinner=False)
def _without(source: str, _whole: models.Explained, _example: Any) -> dict[str, models.Explained]:
    bundle = models.load(_whole.card)
    with models.lock(bundle.device), memory_guard("these texts"):
        return without(bundle, _whole, _example)
