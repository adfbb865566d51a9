"""A second file or model beside the first, or two heads of the same trace."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.open import source
from pages.open.opened_pair import OpenedPair
from pages.shared import figures, page_scene, url_state
from pages.shared.errors import notice, report_errors
from triattn_core.importers.prediction import prediction_of
from triattn_core.scenes.trace_pair import TraceSide
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.trace.sites import layer_by_layer, two_way_sites

ITSELF, OTHER = "another head", "another file"


def side(trace: AttentionTrace, prefix: str, name: str, start: int, like: TraceSide | None = None) -> TraceSide:
    """Shows the pickers of a site and a head; returns that side of the comparison.

    start: the head that it opens on, from 1, 0 is the mean.  like: opens on the layer and head of this side instead.
    """
    sites = weight_sites(trace)
    site, layer = sites[0], 0
    if like is not None:
        places = weight_sites(like.trace)
        layer, start = min(places.index(like.site), len(sites) - 1), opening_head(like)
    if len(sites) > 1:
        names = {i + 1: site.place_name.removeprefix("layer ") or str(i + 1) for i, site in enumerate(sites)}
        width = 84 if max(map(len, names.values())) < 4 else 130
        site = sites[url_state.pick("Layer", list(names), f"{prefix}-layer", layer, show=names.get, width=width) - 1]
    heads, head = trace.site(site.with_quantity("weight")).sizes.get("head", 0), None
    if heads > 1:
        head_choice = url_state.pick(
            "Head", ["mean", *range(1, heads + 1)], f"{prefix}-head", min(start, heads), width=84
        )
        head = None if head_choice == "mean" else head_choice - 1
    labels = prediction_of(trace)[:1] or [("", 0.0)]
    layer_name = f"{site.place_name or f'layer {sites.index(site) + 1}'}, " if len(sites) > 1 else ""
    place = layer_name + ("" if heads < 2 else "mean of heads" if head is None else f"head {head + 1}")
    return TraceSide(f"{name}, {place}".strip(", "), trace, site, head, *labels[0])


def weight_sites(trace: AttentionTrace) -> list[Site]:
    """The maps of weights, layer by layer: those that are signed are not compared.  Raises TraceError: none."""
    return [site.attention for site in layer_by_layer(two_way_sites(trace))]


def opening_head(like: TraceSide) -> int:
    """The head, from 1, that a second trace opens on beside this side: the same; 0 beside a mean of heads."""
    if like.head is None and like.weights.sizes.get("head", 1) > 1:
        return 0
    return (like.head or 0) + 1


def explore(trace: AttentionTrace, key: str, name: str, settings: DeltaGenerator) -> None:
    """Shows two maps on one scale, their difference, and the export menu."""
    single_head = all(trace.site(site).sizes.get("head", 1) == 1 for site in two_way_sites(trace))
    sources = [OTHER] if single_head and len(two_way_sites(trace)) == 1 else [ITSELF, OTHER]
    with settings:
        source_name = url_state.segments("Compare with", sources, "with")
    other = trace if source_name == ITSELF else source.second_trace()
    if other is None:
        st.html('<p class="t-note">Open a second file, of the same tokens or of the same texts.</p>')
        return
    with report_errors():
        weight_sites(other)
    second = "" if source_name == ITSELF else str(other.meta.get("checkpoint", "second"))
    with settings:
        left = side(trace, "left", name if second else "", 1)
        # of another file what the first shows; of the same file another head
        right = side(other, "second", second, 1, left) if second else side(other, "right", "", 2)
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
    with report_errors():
        page = OpenedPair.build(left, right, (key, f"{second}{id(other)}" if second else ""))
    for note in page.scene.notes:
        notice(note)
    page_scene.explore(page)
    with tail:
        page.export_menu(f"{name}-side-by-side")
    figures.numbers("All cells as numbers", page.scene.table, "pair-numbers")
