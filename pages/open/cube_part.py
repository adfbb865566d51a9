"""Of a cube: the heads as thumbnails, the three slices, and what context adds."""

from __future__ import annotations

from math import prod

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.open import context_part, map_part
from pages.open.opened_scene import OpenedScene
from pages.shared import head_strip, numbers, token_grouping, url_state
from pages.shared.errors import report_errors
from triattn_core.analysis.maps import trace_context
from triattn_core.scenes.trace_settings import CubeSettings
from triattn_core.scenes.trace_sites import site_choice
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.token_grouping import NO_GROUPING
from triattn_core.views import cube
from triattn_core.views.lib import cell

MEAN = "mean"


def explore(trace: AttentionTrace, source: str, name: str, toolbar: DeltaGenerator) -> None:
    """Shows the cube explorer with its export menu, and the parts of the relevance below it."""
    with toolbar:
        settings = pick(trace)
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
    site = settings.site.rpartition("/")[0]
    with report_errors():
        page = OpenedScene.build("cube", trace, source, settings, site, *settings.grouping().parts)
    with tail:
        page.export_menu(f"{name}-{site.replace('/', '-')}")
    heads = head_strip.of_layers(trace, "/weight")
    head = settings.head - 1 if isinstance(settings.head, int) else None
    head_strip.show(heads, source, (head_strip.row_of(heads, settings.site), head))
    with report_errors():
        slices(page)
    if settings.head is not None or len(trace_context.cube_sites(trace)) > 1:
        map_part.table(trace, source)
    context_part.explore(trace, source)


def pick(trace: AttentionTrace) -> CubeSettings:
    """The pickers of layer, head, quantity, and of what the tokens are read as."""
    sites = trace_context.cube_sites(trace)
    site, heads = sites[0], trace.site(f"{sites[0]}/weight").sizes.get("head", 1)
    if len(sites) > 1:
        site = sites[url_state.segments("Layer", list(range(1, len(sites) + 1)), "layer") - 1]
    head = url_state.pick("Head", [MEAN, *range(1, heads + 1)], "head", 1, width=84) if heads > 1 else None
    quantities = ["weight", "relevance"] if f"{site}/relevance" in trace.sites else ["weight"]
    quantity = url_state.segments("Quantity", quantities, "quantity") if len(quantities) > 1 else "weight"
    grouping = token_grouping.controls(fold_pickers(trace)) if trace.texts else NO_GROUPING
    return CubeSettings(site=f"{site}/{quantity}", head=head, **grouping.settings)


def fold_pickers(trace: AttentionTrace) -> tuple[token_grouping.Pick, ...]:
    """A picker for each axis, of the units that its tokens are folded into."""
    labels = axis_labels(trace, cube.NEEDS)
    return tuple(
        token_grouping.Pick(f"{label[0].upper()}{label[1:]} as", f"{axis}-as", (axis,), token_grouping.SIDES)
        for axis, label in labels.items()
    )


@st.fragment
def slices(page: OpenedScene) -> None:
    """Shows figure, inspector and lists: a click runs this alone."""
    trace, settings = page.scene.trace, page.scene.settings
    choice = site_choice(trace, settings.site, settings.head)
    chosen = page.choose()
    facts = cell.read(trace, choice, dict(zip(cube.NEEDS, chosen)))
    page.answer(stamp=cube.stamp(trace, choice, settings.hide), numbers=facts)
    numbers.below(trace, choice, settings.hide, chosen[0], prod(map(len, page.scene.axes)))
