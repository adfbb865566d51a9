"""Of a cube: what is chosen in it, the cube as its own page shows it, and what context adds."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.cube import inspector
from pages.open import context_part, map_part
from pages.shared import head_strip, token_grouping, url_state
from pages.shared.errors import report_errors
from pages.shared.page_scene import TraceScene
from triattn_core.analysis.maps import trace_context
from triattn_core.scenes.cube import Settings
from triattn_core.scenes.trace_sites import site_choice, slice_axes
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.site import Site
from triattn_core.trace.sites import layer_titles
from triattn_core.trace.token_grouping import NO_GROUPING
from triattn_core.views import cube
from triattn_core.views.lib.strongest import labels

MEAN = "mean"


def explore(trace: AttentionTrace, source: str, name: str, toolbar: DeltaGenerator) -> None:
    """Shows the cube explorer with its export menu, and the parts of the relevance below it."""
    with toolbar:
        settings = pick(trace)
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
    site = settings.site.attention
    with report_errors():
        page = TraceScene.build("cube", trace, source, settings, str(site), *settings.grouping().parts)
    with tail:
        page.save_menus(f"{name}-{site.file_name}")
    with report_errors():
        cubes = trace_context.cube_sites(trace)
        inspector.show(page, head_strip.of_layers(trace, lambda site: site.attention in cubes), source)
    if "head" in trace.site(site.with_quantity("weight")).dims or len(trace_context.cube_sites(trace)) > 1:
        map_part.table(trace, source)
    context_part.explore(trace, source)


def pick(trace: AttentionTrace) -> Settings:
    """The pickers of layer, head, quantity, and of what the tokens are read as."""
    sites = trace_context.cube_sites(trace)
    site, heads = sites[0], trace.site(sites[0].with_quantity("weight")).sizes.get("head", 1)
    if len(sites) > 1:
        titles = dict(enumerate(layer_titles([site.with_quantity("weight") for site in sites]), 1))
        site = sites[url_state.segments("Layer", list(titles), "layer", show=titles.__getitem__) - 1]
    head = url_state.pick("Head", [MEAN, *range(1, heads + 1)], "head", 1, width=84) if heads > 1 else None
    quantities = ["weight", "relevance"] if site.with_quantity("relevance") in trace.sites else ["weight"]
    quantity = url_state.segments("Quantity", quantities, "quantity") if len(quantities) > 1 else "weight"
    grouping = token_grouping.controls(fold_pickers(trace)) if trace.texts else NO_GROUPING
    drawn = site.with_quantity(quantity)
    first = dict(site_choice(trace, drawn, None if head == MEAN else head).index)  # where most weight is
    slices = tuple(pick_slice(trace, drawn, axis, first[axis]) for axis in slice_axes(trace, drawn))
    return Settings(site=drawn, head=head, slices=slices, **grouping.settings)


def pick_slice(trace: AttentionTrace, site: Site, axis: str, first: int) -> int:
    """The picker of the position on an axis of which the cube shows one, from 0.  first: on which it opens."""
    names = labels(trace.site(site), dict(trace.texts), axis)
    label = axis_labels(trace)[axis]
    numbers = [f"{i + 1} {name}" for i, name in enumerate(names)]
    return numbers.index(url_state.pick(label[0].upper() + label[1:], numbers, f"slice-{axis}", first))


def fold_pickers(trace: AttentionTrace) -> tuple[token_grouping.Pick, ...]:
    """A picker for each axis, of the units that its tokens are folded into."""
    labels = axis_labels(trace, cube.NEEDS)
    return tuple(
        token_grouping.Pick(f"{label[0].upper()}{label[1:]} as", f"{axis}-as", (axis,), token_grouping.SIDES)
        for axis, label in labels.items()
    )
