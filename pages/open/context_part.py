"""Of a cube: how much of each head's relevance depends on context."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.shared import figures, style
from pages.shared.errors import report_errors
from triattn_core.analysis.maps import trace_context
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.views.charts import anova as chart
from triattn_core.views.charts import anova_text


@st.cache_resource(max_entries=8, show_spinner="Taking the cube apart")
def parts(_trace: AttentionTrace, source: str):
    """The parts of the relevance of each head."""
    return trace_context.context_table(_trace)


def explore(trace: AttentionTrace, source: str) -> None:
    """Shows the parts in an expander, since those of a large cube take a while."""
    with st.expander("What context adds: functional ANOVA of the relevance", key="context", bind="query-params") as box:
        if not box.open:
            return
        with report_errors(stop=False):
            table = parts(trace, source)
            table = table.assign(site=[site if "layer." in site else f"layer.0/{site}" for site in table["site"]])
            layer, head = anova_text.most_redirected(table)
            row = table[(table["head"] == head) & table["site"].str.startswith(f"layer.{layer}/")].iloc[0]
            sentence = anova_text.parts(table, row, layer, head)
            theme = "dark" if style.dark() else "light"
            bars = partial(chart.parts, table, layer, head, theme, axes=axis_labels(trace))
            figures.show(bars, sentence, "context-parts")
            figures.note(sentence)
            if not any(name.endswith("/relevance") for name in trace.sites):
                figures.note(
                    "For weights, their logarithm is decomposed: it is the relevance up to a constant per query."
                )
            st.dataframe(table.drop(columns="site"), hide_index=True, alt=sentence)
