"""The attributions of a page as they come: the figures with places for all methods, filled in as each is done."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.attribute import attribution_agreement, attribution_long_text, attribution_table, pickers
from pages.shared.model_jobs import Cancelled
from pages.shared.page_scene import PageScene


def show_methods(parts: Iterator[PageScene], waiting: DeltaGenerator, right: DeltaGenerator, theme: str) -> PageScene:
    """Draws the attribution of each method, and in `right` their agreement, as `parts` arrive; returns the complete
    one, with the chosen role and, for a long text, the method.  waiting: where progress is shown.
    Raises TriattnError; Cancelled, once the figures say so."""
    top, marks = st.container(), st.empty()
    with waiting:
        page = next(parts)
    tokens, choices = page.scene.tokens, {}
    if attribution_long_text.needs_long_layout(tokens.table):
        with top:
            st.html(attribution_long_text.heading())
            choices["method"] = pickers.pick_method(tokens.methods)
    with right:
        st.html(attribution_agreement.heading())
        role = choices["ranks"] = pickers.pick_role(tokens)
        ranks = st.empty()

    def draw(missing: str = attribution_table.PENDING) -> None:
        marks.html(_marks(page, choices.get("method"), theme, missing))
        ranked = page.scene.tokens.ranked(role)
        ranks.html(attribution_agreement.show_rank_correlation(ranked, role, theme, missing, tokens.methods))

    while True:
        draw()
        if page.scene.tokens.complete:
            page.choices |= choices
            return page
        try:
            with waiting:
                page = next(parts)
        except Cancelled:
            draw(attribution_table.CANCELLED)
            raise


def _marks(page: PageScene, method: str | None, theme: str, missing: str) -> str:
    """HTML: the text under each method; a long text under `method`, or under the first method that is done."""
    tokens = page.scene.tokens
    arguments = tokens.table, tokens.shares, tokens.names, page.settings.steps, theme
    if method is None:
        return attribution_table.marks(*arguments, missing, tokens.methods)
    methods = tokens.attributions.methods
    return attribution_long_text.marks(*arguments, method if method in methods else methods[0], missing, tokens.methods)
