"""All heads of what a page shows, as a strip below its figure: a click chooses the head."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.shared import canvas_component
from triattn_core.analysis.maps import joint_keys
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.trace.sites import layer_by_layer
from triattn_core.views import head_grid
from triattn_core.views.lib.canvas import Canvas

Choose = Callable[[int, int], Mapping[str, Any]]


def of_layers(trace: AttentionTrace, keep: Callable[[Site], bool] = lambda site: True) -> AttentionTrace:
    """The weights of the sites for which `keep` is true, a row of the strip each."""
    sites = {site: array for site, array in trace.sites.items() if site.quantity == "weight" and keep(site)}
    return AttentionTrace(sites, trace.texts, trace.meta)


def show(
    trace: AttentionTrace,
    source: str,
    position: tuple[int, int | None],
    rows: Sequence[str] = (),
    choose: Choose = lambda layer, head: {"layer": layer + 1, "head": head + 1},
) -> None:
    """Draws the strip of heads, if there are several.

    source: identifies the trace.  position: row and head, from 0; None is the mean of heads.  rows: their names, if
    they are not layers.  choose: from a clicked row and head to the values of the page's pickers, by key.
    """
    if sum(site.sizes.get("head", 1) for site in trace.sites.values()) < 2:
        return
    canvas = _strip(trace, source, tuple(rows))
    key = canvas_component.key("strip", source, *rows)
    canvas_component.show_choosable(canvas, key, cell=partial(_take, choose))
    row, head = position
    canvas_component.answer(key, {"cell": [row, -1 if head is None else head]})


def show_models(traces: Mapping[str, AttentionTrace], site: Site, source: str, head: int | None) -> None:
    """Draws the strip of one site, a row per model; only models with the site and the same tokens.  Of Bi-joint its
    weights over the keys alone.

    head: from 1; None is the mean.
    """
    weights = {name: joint_keys.key_part(trace.site(site)) for name, trace in traces.items() if site in trace.sites}
    shapes = {name: (weight.sizes["query"], weight.sizes["key"]) for name, weight in weights.items()}
    comparable = [name for name in weights if shapes[name] == next(iter(shapes.values()))]
    sites = {Site(layer=row, role="model", quantity="weight"): weights[name] for row, name in enumerate(comparable)}
    combined = AttentionTrace(sites, next(iter(traces.values())).texts)
    position = (0, None if head is None else head - 1)
    show(combined, source, position, comparable, lambda _, head: {"head": head + 1})


def row_of(trace: AttentionTrace, site: Site) -> int:
    """Which row a site is, from 0."""
    return layer_by_layer(trace.sites).index(site.with_quantity("weight"))


@st.cache_resource(max_entries=16, show_spinner=False)
def _strip(_trace: AttentionTrace, source: str, rows: tuple[str, ...]) -> Canvas:
    """Kept: a click measures nothing again."""
    from triattn_core.analysis.maps.head_measures import head_table

    return head_grid.strip(_trace, head_table(_trace), rows)


def _take(choose: Choose, cell: Sequence[int]) -> None:
    """Before the page runs: its pickers hold what was clicked."""
    for name, value in choose(int(cell[0]), int(cell[1])).items():
        st.session_state[name] = value
