"""The attributions of a page as they come: the quick methods at once, each of the others when it is done."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from pages.attribute import attribution_long_text, attribution_table, pickers
from pages.shared.page_scene import PageScene


def show_methods(parts: Iterator[PageScene], theme: str) -> PageScene:
    """Draws what each method gives each token, up to the part of `parts` that has all; returns that one, with the
    method that is chosen for a long text.  Raises TriattnError."""
    top, slot, waiting = st.container(), st.empty(), st.container()
    page, method = None, None
    while page is None or not page.scene.tokens.complete:
        with waiting:  # where progress is shown
            part = next(parts)
        tokens, steps = part.scene.tokens, part.settings.steps
        if page is None and attribution_long_text.needs_long_layout(tokens.table):
            with top:
                st.html(attribution_long_text.heading())
                method = pickers.pick_method()
        page = part
        drawn = tokens.table, tokens.shares, tokens.names, steps, theme
        if method is None:
            slot.html(attribution_table.marks(*drawn))
        else:
            methods = tokens.attributions.methods
            slot.html(attribution_long_text.marks(*drawn, method if method in methods else methods[0]))
    if method is not None:
        page.chosen["method"] = method
    return page
