"""Of two-way attention: all heads as thumbnails, one map large, and the heads' measures."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import canvas_component, export, figures, token_grouping, url_state
from pages.shared.errors import report_errors
from triattn_core.scenes import trace_scenes
from triattn_core.trace import AttentionTrace
from triattn_core.trace.sites import layer_of, two_way_sites
from triattn_core.trace.token_grouping import NO_GROUPING
from triattn_core.views import head_grid

HEAD, MEAN, ROLLOUT = "one head", "mean of heads", "rollout"
MEAN_HEAD = "mean"  # as `MapSettings` has it
COLUMNS = {name: head_grid.MEASURE_NAMES[name][0] for name in head_grid.MEASURE_NAMES}


@st.cache_resource(max_entries=4, show_spinner="Measuring the heads")
def measures(_trace: AttentionTrace, source: str):
    """The measures of all heads."""
    from triattn_core.analysis.maps.head_measures import head_table

    return head_table(_trace)


@st.cache_resource(max_entries=16, show_spinner=False)
def grid(_trace: AttentionTrace, source: str, measure: str, cell: tuple[int, int]):
    """The canvas of all heads, kept: a click builds nothing."""
    return head_grid.figure(_trace, measures(_trace, source), measure, cell)


@st.cache_resource(max_entries=16, show_spinner=False)
def head_map(_trace: AttentionTrace, source: str, site: str, head: int | None, quantity: str):
    """The canvas of one map."""
    return trace_scenes.map_figure(_trace, site, head, quantity)


def chosen_head(trace: AttentionTrace, source: str, heads: int) -> tuple[int, int]:
    """Shows the grid of all heads, if there are several; returns the chosen layer and head, from 0."""
    layers = len(two_way_sites(trace))
    axes = [range(layers), range(heads)]
    link = [
        int(number) - 1 if number.isdecimal() else -1 for number in (st.query_params.get("at-head") or "1.1").split(".")
    ]
    first = tuple(link) if len(link) == 2 and all(i in axis for i, axis in zip(link, axes)) else (0, 0)
    if layers * heads == 1:
        return 0, 0
    measure = measure_picker(trace, source)
    key = canvas_component.key("grid", source)
    clicked = canvas_component.show(grid(trace, source, measure, (0, 0)), key)
    canvas_component.answer(key, {"cell": list(first)})
    layer, head = first if clicked is None else (int(clicked[0]), int(clicked[1]))
    if clicked is not None:
        st.query_params["at-head"] = f"{layer + 1}.{head + 1}"
    return layer, head


def measure_picker(trace: AttentionTrace, source: str) -> str:
    """The measure shown below each thumbnail."""
    table = measures(trace, source)
    names = [name for name in COLUMNS if table[name].notna().any()]
    start = names.index("query_information")
    return url_state.pick("Below each", names, "measure", start, show=COLUMNS.get, width=220)


def table(trace: AttentionTrace, source: str) -> None:
    """The measures of all heads as numbers, counted from 1."""
    rows = measures(trace, source).dropna(axis=1, how="all").drop(columns="site")
    rows = rows.assign(layer=rows["layer"] + 1, head=rows["head"] + 1).rename(columns=COLUMNS)
    figures.numbers("All heads as numbers", rows, "heads-table")


def explore(trace: AttentionTrace, source: str, name: str, settings: DeltaGenerator) -> None:
    """Shows the thumbnails, the chosen map, and the export menu."""
    sites = sorted(two_way_sites(trace), key=layer_of)
    heads = max(trace.site(site).sizes.get("head", 1) for site in sites)
    with st.container(key="main"):
        left, right = st.columns([1, 1.25], gap="large") if len(sites) * heads > 1 else (None, st.container())
    shows = [HEAD, MEAN] if heads > 1 else [HEAD]
    shows += [ROLLOUT] if len(sites) > 1 and "context" not in trace.site(sites[0]).dims else []
    if left is not None:
        with left:
            layer, head = chosen_head(trace, source, heads)
            table(trace, source)
    else:
        layer, head = 0, 0
    with settings:
        show = url_state.segments("Map", shows, "map") if len(shows) > 1 else HEAD
        site, at = sites[layer].rsplit("/", 1)[0], head if heads > 1 else None
        scores = f"{site}/relevance" in trace.sites
        quantity = url_state.segments("Quantity", ["weight", "relevance"], "quantity") if scores else "weight"
        as_read = NO_GROUPING if not trace.texts else token_grouping.controls((token_grouping.TEXT,), hide=False)
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
    site, at = (trace_scenes.ROLLOUT, None) if show == ROLLOUT else (site, None if show == MEAN else at)
    with right, report_errors():
        read = as_read.trace(trace)
        key = canvas_component.key("map", source, as_read.name)
        canvas = head_map(read, f"{source} {as_read}", site, at, "weight" if show == ROLLOUT else quantity)
        canvas_component.show(canvas, key)
    with tail:
        current = {"site": site, "head": at + 1 if at is not None else MEAN_HEAD if show == MEAN else None}
        current |= {"quantity": quantity}
        render = lambda: trace_scenes.draw_trace("map", read, **current)  # noqa: E731
        export.trace_menu(f"{name}-{site.replace('/', '-')}", key, render)
