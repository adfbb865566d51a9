"""The exact numbers behind a figure as a table, and the other views of the same cells, each in a fold of its own."""

from __future__ import annotations

import streamlit as st

from pages.common import export, style
from triattn_core import views
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.views import cube
from triattn_core.views.strongest import strongest

ROWS = 20_000  # rows of a table in the browser; a larger cube is listed query by query


def below(trace: AttentionTrace, choice: Choice, hide: bool, query: int, size: int) -> None:
    """Below the cube: all its cells as numbers, and every view of the table that fits; what is closed costs nothing."""
    with st.expander(f"All {size:,} cells as numbers", key="numbers", bind="query-params") as box:
        if box.open:
            table(trace, choice, hide, query, size)
    for name, view in views.beside(cube, trace.pick(choice).dims).items():
        with st.expander(view.TITLE, key=name, bind="query-params") as box:
            if box.open:
                theme = "dark" if style.dark() else "light"
                export.chart(name, view.figure(trace, choice, hide_special=hide, theme=theme))


def table(trace: AttentionTrace, choice: Choice, hide: bool, query: int, size: int) -> None:
    """Every cell as a row, largest first; of a large cube those of the chosen query."""
    rows = strongest(trace, choice, hide_special=hide)
    if size > ROWS:
        rows = rows[rows["query_at"] == query]
        st.caption(f"The {len(rows):,} cells of the chosen query; Export has all {size:,} as CSV.")
    exact = st.column_config.NumberColumn(format="%.4g")
    names = dict.fromkeys(("weight", "relevance", "share"), exact)
    names |= {f"{axis}_at": st.column_config.NumberColumn(f"{axis} position, from 0") for axis in cube.NEEDS}
    names |= {f"{axis}_tokens": st.column_config.NumberColumn(f"{axis}, tokens") for axis in cube.NEEDS}
    st.dataframe(rows, hide_index=True, height=320, column_config=names)
