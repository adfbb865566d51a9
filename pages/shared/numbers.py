"""The exact numbers behind a figure as a table, and the other views of the same cells, each in a fold of its own."""

from __future__ import annotations

import streamlit as st

from pages.shared import figures, style
from pages.shared.errors import report_errors
from triattn_core import views
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.distribution import Distribution
from triattn_core.views.lib.strongest import strongest


def below(shown: Distribution, hide: bool, query: int, size: int) -> None:
    """Below the cube: all its cells as numbers, and every view of the table that fits; what is closed costs nothing."""
    with st.expander(f"All {size:,} cells as numbers", key="numbers", bind="query-params") as box:
        if box.open:
            table(shown, hide, query, size)
    for name, view in views.fitting_views(shown).items():
        key = f"view-{name}"
        with st.expander(view.TITLE, key=key, bind="query-params") as box, report_errors(stop=False):
            if box.open:
                theme = style.theme()
                fitted = views.reduce_to(shown, view.NEEDS)
                figure = view.figure(fitted, hide_special=hide, theme=theme)
                sentence = view.describe(fitted, hide_special=hide)
                figures.show(figure, sentence, f"{key}-chart")
                figures.note(sentence)


def table(shown: Distribution, hide: bool, query: int, size: int) -> None:
    """Shows every cell as a row, largest first; of a large cube only those of the chosen query."""
    rows = strongest(shown, hide_special=hide)
    if size > figures.ROWS:
        rows = rows[rows["query_at"] == query]
        query_label = axis_labels(shown.trace)["query"]
        st.caption(f"The {len(rows):,} cells of the chosen {query_label}; Export has all {size:,} as CSV.")
    exact = st.column_config.NumberColumn(format="%.4g")
    names = dict.fromkeys(("weight", "relevance", "share"), exact)
    labels = axis_labels(shown.trace, [name.removesuffix("_at") for name in rows if name.endswith("_at")])
    names |= {axis: st.column_config.Column(label) for axis, label in labels.items() if label != axis}
    number = st.column_config.NumberColumn
    names |= {f"{axis}_at": number(f"{label} position, from 0") for axis, label in labels.items()}
    names |= {f"{axis}_tokens": number(f"{label}, tokens") for axis, label in labels.items()}
    st.dataframe(rows, hide_index=True, height=320, column_config=names, alt="All cells, the largest first")
