"""Of a cube: how much of each head's relevance depends on context."""

from __future__ import annotations

import streamlit as st

from pages.shared import figures, style
from pages.shared.errors import report_errors
from pages.shared.page_scene import TraceScene
from triattn_core.scenes.context import Settings
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels

LOGARITHM = "For weights, their logarithm is decomposed: it is the relevance up to a constant per query."


def explore(trace: AttentionTrace, source: str) -> None:
    """Shows the parts in an expander, since those of a large cube take a while."""
    with st.expander("What context adds: the relevance in its parts", key="context", bind="query-params") as box:
        if not box.open:
            return
        with report_errors(stop=False):
            with st.spinner("Decomposing the cube"):
                scene = TraceScene.build("context", trace, source, Settings()).scene
            heads = scene.parts
            bars = heads.draw_bars(style.theme(), axes=axis_labels(trace))
            figures.show(bars, heads.sentence, "context-parts")
            figures.note(heads.sentence)
            if not any(site.quantity == "relevance" for site in trace.sites):
                figures.note(LOGARITHM)
            st.dataframe(scene.table.drop(columns="site"), hide_index=True, alt=heads.sentence)
