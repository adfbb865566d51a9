"""Figures with what must stand beside each: a sentence made from its numbers, which is its text for who cannot see it
as well, and the numbers as a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from triattn_core.text.direction import isolate_quotes

if TYPE_CHECKING:
    import altair as alt
    import plotly.graph_objects as go
    import xarray as xr

ROWS = 20_000  # of a table in the browser


def _name(function: FunctionType) -> str:
    """What a cache knows a function by."""
    return f"{function.__module__}.{function.__qualname__}"


def show(figure: partial | alt.TopLevelMixin | go.Figure, description: str, key: str, **options) -> Any:
    """Shows a figure with its description as alternative text.  Its menu saves PNG (Altair: SVG too); a Plotly figure
    can be saved as an offline page.

    figure: or a function that draws an Altair chart, with its arguments: it runs once for them.
    """
    if isinstance(figure, partial):
        if "on_select" not in options:
            return _replay(figure.func, figure.args, figure.keywords, description, key, options)
        figure = build(figure.func, *figure.args, **figure.keywords)  # widgets cannot be replayed
    if type(figure).__module__.startswith("altair"):
        return st.altair_chart(figure, theme=None, alt=description, key=key, **options)
    config = {"toImageButtonOptions": {"filename": key, "scale": 2}}
    st.plotly_chart(figure, theme=None, alt=description, key=key, config=config, **options)
    page = partial(figure.to_html, include_plotlyjs=True)
    return st.download_button("Save as a page that works offline", page, f"{key}.html", "text/html", on_click="ignore")


def _content(array: xr.DataArray) -> tuple:
    """What a cache knows an array by."""
    coordinates = {str(name): coordinate.values.tolist() for name, coordinate in array.coords.items()}
    return array.dims, array.values, coordinates, array.attrs


CONTENTS: dict[str | type, Callable] = {FunctionType: _name, "xarray.core.dataarray.DataArray": _content}


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=CONTENTS)
def build(figure: Callable, *arguments: Any, **options: Any) -> Any:
    """A figure, built once for a function and its arguments: Altair copies a layered chart dozens of times."""
    return figure(*arguments, **options)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=CONTENTS)
def _replay(draw: Callable, arguments: tuple, keywords: dict, description: str, key: str, options: dict) -> None:
    """Draws and shows a figure; the same again is replayed by Streamlit, which saves converting a chart to Vega-Lite:
    30 ms of processor time each."""
    show(draw(*arguments, **keywords), description, key, **options)


def note(text: str) -> None:
    """A sentence below a figure.  Tokens that it quotes may run from right to left."""
    st.html(f'<p class="t-note">{escape(isolate_quotes(text))}</p>')


def folded(mark: str, text: str) -> None:
    """A sentence below a figure that stands behind a mark."""
    html = f"<summary>{escape(mark)}</summary><div>{escape(isolate_quotes(text))}</div>"
    st.html(f'<details class="t-note">{html}</details>')


def numbers(label: str, rows: pd.DataFrame | Callable[[], pd.DataFrame], key: str) -> None:
    """The same numbers as a table, in a fold; what is closed costs nothing where `rows` is a function."""
    with st.expander(label, key=key, bind="query-params") as box:
        if not box.open:
            return
        table = rows() if callable(rows) else rows
        if len(table) > ROWS:
            st.caption(f"The first {ROWS:,} of {len(table):,} rows.")
        table = table.head(ROWS)
        exact = st.column_config.NumberColumn(format="%.4g")
        columns = dict.fromkeys(table.select_dtypes("float").columns, exact)
        st.dataframe(
            table, hide_index=True, height="content" if len(table) < 9 else 320, column_config=columns, alt=label
        )
