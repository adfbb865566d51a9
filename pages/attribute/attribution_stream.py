"""The attributions of a page as they come: the quick methods at once, each of the others when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.attribute import attribution_long_text, attribution_table
from pages.shared import page_setup, url_state
from triattn_core.analysis.catalogue import METHODS
from triattn_core.scenes import attribute as scene

if TYPE_CHECKING:
    from triattn_core.analysis.attribution.methods import Attributions


def show_methods(
    question: page_setup.Question, steps: int, fold: str, theme: str
) -> tuple[Attributions, float, str | None]:
    """Draws what each method gives each token; returns that, the log-odds of the answer, and of a long text the method
    that is chosen for it.  Raises TriattnError."""
    top, slot, waiting = st.container(), st.empty(), st.container()
    found, odds, method = None, 0.0, None
    for pieces, odds in _within(waiting, scene.stream_attributions(question, steps)):  # noqa: B007 (the last is returned)
        first, found = found is None, scene.fold_pieces(pieces, fold)
        shares, names = found.shares(), question.names
        if first and attribution_long_text.needs_long_layout(found.table):
            with top:
                st.html(attribution_long_text.heading())
                method = url_state.segments("Method", list(METHODS), "method", label_visibility="collapsed")
        if method is None:
            slot.html(attribution_table.marks(found.table, shares, names, steps, theme))
        else:
            of = method if method in found.methods else found.methods[0]
            slot.html(attribution_long_text.marks(found.table, shares, names, steps, theme, of))
    return found, odds, method


def _within(place, parts):
    """The parts, each made where its progress is shown."""
    while True:
        with place:
            part = next(parts, None)
        if part is None:
            return
        yield part
