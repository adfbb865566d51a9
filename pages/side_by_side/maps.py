"""The maps, and below them all heads of each model, what its attention is worth, and every cell as a row."""

from __future__ import annotations

import streamlit as st

from pages.shared import attention_worth, checkpoint_picker, figures, head_strip
from pages.shared.page_scene import PageScene, explore
from triattn_core.scenes.side_by_side import Settings


def show(page: PageScene, settings: Settings) -> None:
    """Shows the maps of the models of a scene."""
    comparison = page.scene.comparison
    explore(page)
    names = checkpoint_picker.short_names([explanation.entry for explanation in comparison.explanations])
    traces = dict(zip(names, (explanation.trace for explanation in comparison.explanations)))
    head_strip.show_models(traces, settings.site.with_quantity("weight"), page.key, settings.head)
    if measured := attention_worth.table(comparison.entries):
        st.html(measured)
    figures.numbers("All cells as numbers", lambda: page.scene.table, "numbers")
