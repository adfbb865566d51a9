"""One head in examples: the rows in which it has most of a measure, and those at its deciles, with their maps."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from pages.heads import overview
from pages.heads.atlas_rows import Rows
from pages.heads.pickers import Atlas
from pages.shared import checkpoint_html, figures, style, url_state
from pages.shared.errors import report_errors
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.trace.sites import two_way_weights
from triattn_core.views import word_map

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.trace import AttentionTrace

HEIGHT = 200  # pixels of a map
CSS = (
    "<style>.t-atlas .t-maps {align-items: start; "
    "grid-template-columns: repeat(auto-fill, minmax(min(max(250px, var(--least)), 100%), 300px))}</style>"
)


def show(rows: Rows, atlas: Atlas) -> None:
    """The maps of the chosen head, the strongest first."""
    from triattn_core.analysis.maps.head_atlas import pick_examples

    layout = "key down, context across: each row has one query" if rows.task in LABORATORY else "query down, key across"
    (site, head), name = atlas.head, atlas.names[atlas.head_index]
    st.html(checkpoint_html.section(f"{name.capitalize()} in examples", layout))
    measures = overview.measures_of(atlas)
    start = measures.index("context_information" if "context_information" in measures else "query_information")
    measure = url_state.pick(
        "Examples by", measures, "by", start, show=lambda name: overview.MEASURES.get(name, (name,))[0], width=220
    )
    picks = pick_examples(atlas.table, site, head, measure)
    if picks.empty:
        st.html('<p class="t-note">This measure has no meaning for this head.</p>')
        return
    examples = rows.examples()
    with report_errors(stop=False):
        _maps(rows, picks[picks["rank"].str.startswith("strongest")], examples, site, head, "Strongest")
        _open_strongest(rows, examples[picks["row"].iloc[0]])
        _maps(rows, picks[~picks["rank"].str.startswith("strongest")], examples, site, head, "Deciles")
    numbers = picks.assign(text=[rows.text(examples[line]) for line in picks["row"]])
    figures.numbers("These examples as numbers", numbers, "examples-numbers")


def _maps(rows: Rows, picks: pd.DataFrame, examples: dict[int, Any], site: str, head: int, title: str) -> None:
    maps = {}
    for example in picks.itertuples():
        weights = _map(rows.trace(examples[example.row]), site, head)
        maps[f"{example.rank.removeprefix('strongest ')}: {example.value:.3g}, row {example.row}"] = weights
    if maps:
        tallest = max(array.sizes["query"] for array in maps.values())
        maps_html = word_map.maps(maps, min(HEIGHT, 50 * tallest), style.theme())
        st.html(f'{CSS}<b>{title}</b><div class="t-atlas">{maps_html}</div>')
        if title == "Strongest":
            st.html(f'<p class="t-note">{word_map.legend(style.theme(), "set of maps")}</p>')


def _map(trace: AttentionTrace, site: str, head: int) -> xr.DataArray:
    """Query × key; of a cube with one query, key × context, named as `word_map` takes them."""
    weights = trace.site(site)
    if "context" in weights.dims and weights.sizes["query"] == 1:
        return weights.isel(head=head).isel(query=0, drop=True).rename(key="query", context="key")
    return two_way_weights(trace, site).isel(head=head)


def _open_strongest(rows: Rows, example: Any) -> None:
    """The link to the strongest example on the page that shows it, else its text."""
    if not rows.link(example):
        st.html(f'<p class="t-note">{escape(rows.text(example))}</p>')
