"""COIN as it is and with each of its parts switched off: computed once for an example, kept, shared by all sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.common import models
from triattn_core.device import memory_guard
from triattn_core.shelf import Card
from triattn_core.views.coin_blocks import Answer, switch

EVERY = "context, all blocks"  # what the context term is called where blocks stand beside it


def explained(card: Card, example: Any) -> dict[str, models.Explained]:
    """What a COIN makes of an example, by what is off: "" (nothing), `layer.0`, …, `context`.  Raises TriattnError."""
    whole = models.explain(card, example)
    return _without(repr(whole.source), whole, example)


@st.cache_resource(max_entries=32, show_spinner=False)
def _without(source: str, _whole: models.Explained, _example: Any) -> dict[str, models.Explained]:
    from triattn_core.analysis.switched import explain_without, switches

    bundle, found = models.load(_whole.card), {"": _whole}
    with models.lock(bundle.device), memory_guard("these texts"):
        for off in switches(bundle):
            said, trace = explain_without(bundle, _example, (off,))
            found[off] = replace(_whole, prediction=said, trace=trace, source=(*_whole.source, off))
    return found


def answers(found: dict[str, models.Explained]) -> list[Answer]:
    """The probability of what the whole model says, with each thing off."""
    best = found[""].prediction.best
    return [
        Answer(off, EVERY if off == "context" else switch(off), one.prediction.probabilities[best], flips)
        for off, one in found.items()
        for flips in [one.prediction.best != best]
    ]
