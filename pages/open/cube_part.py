"""Of a cube: the heads as thumbnails, the three slices, and what context adds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.open import map_part
from pages.shared import canvas_component, export, figures, head_strip, numbers, style, token_grouping, url_state
from pages.shared.errors import report_errors
from triattn_core.analysis.maps import trace_context
from triattn_core.scenes import trace_scenes
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.token_grouping import NO_GROUPING
from triattn_core.views import cube
from triattn_core.views.charts import anova as chart
from triattn_core.views.charts import anova_text
from triattn_core.views.lib import cell

MEAN = "mean"


def fold_pickers(trace: AttentionTrace) -> tuple[token_grouping.Pick, ...]:
    """A picker for each axis, of the units that its tokens are folded into."""
    labels = axis_labels(trace, cube.NEEDS)
    return tuple(
        token_grouping.Pick(f"{label[0].upper()}{label[1:]} as", f"{axis}-as", (axis,), token_grouping.SIDES)
        for axis, label in labels.items()
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_trace: AttentionTrace, source: str, choice: str, hide: bool):
    """The canvas without its exact numbers: these stay here. Kept, so that a click builds nothing."""
    return cube.figure(_trace, Choice.from_query(choice), hide, exact=False)


@st.cache_resource(max_entries=8, show_spinner="Taking the cube apart")
def parts(_trace: AttentionTrace, source: str):
    """The parts of the relevance of each head."""
    return trace_context.context_table(_trace)


@st.fragment
def slices(
    trace: AttentionTrace, source: str, choice: Choice, hide: bool, key: str, selection: dict[str, Sequence[int]]
) -> None:
    """Shows figure, inspector and lists as a fragment: a click puts the cell into `selection`."""
    canvas = figure(trace, source, choice.query(), hide)
    at = canvas_component.cell(key, canvas_component.show(canvas, key), canvas.extents, canvas.cell)
    selection["cell"] = at
    facts = cell.read(trace, choice, dict(zip(cube.NEEDS, at)))
    canvas_component.answer(key, {"cell": at, "stamp": cube.stamp(trace, choice, hide), "numbers": facts})
    numbers.below(trace, choice, hide, at[0], prod(map(len, canvas.extents)))


def explore(trace: AttentionTrace, source: str, name: str, settings: DeltaGenerator) -> None:
    """Shows the cube explorer with its export menu, and the parts of the relevance below it."""
    sites = trace_context.cube_sites(trace)
    heads = trace.site(f"{sites[0]}/weight").sizes.get("head", 1)
    with settings:
        site = sites[0]
        if len(sites) > 1:
            at = url_state.segments("Layer", list(range(1, len(sites) + 1)), "layer")
            site = sites[at - 1]
        head = url_state.pick("Head", [MEAN, *range(1, heads + 1)], "head", 1, width=84) if heads > 1 else MEAN
        quantities = ["weight", "relevance"] if f"{site}/relevance" in trace.sites else ["weight"]
        quantity = url_state.segments("Quantity", quantities, "quantity") if len(quantities) > 1 else "weight"
        as_read = token_grouping.controls(fold_pickers(trace)) if trace.texts else NO_GROUPING
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
    with report_errors():
        choice = trace_scenes.site_choice(trace, f"{site}/{quantity}", None if head == MEAN else int(head))
        read = as_read.trace(trace, site)
    key = canvas_component.key("open-cube", source, site, as_read.name, *as_read.phrases)
    selection: dict[str, Sequence[int]] = {}
    with tail:
        settings_now = {"site": choice.site, "head": head if heads > 1 else None, "hide": as_read.hide}
        render = lambda: trace_scenes.draw_trace("cube", read, **settings_now, **selection)  # noqa: E731
        export.trace_menu(f"{name}-{site.replace('/', '-')}", key, render)
    heads_of_site = head_strip.of_layers(trace, "/weight")
    row = head_strip.row_of(heads_of_site, site)
    head_strip.show(heads_of_site, source, (row, None if head == MEAN else int(head) - 1))
    with report_errors():
        slices(read, f"{source} {as_read}", choice, as_read.hide, key, selection)
    if heads * len(sites) > 1:
        map_part.table(trace, source)
    context(trace, source)


def context(trace: AttentionTrace, source: str) -> None:
    """How much of each head's relevance depends on context; in an expander, since a large cube takes a while."""
    with st.expander("What context adds: the relevance in its parts", key="context", bind="query-params") as box:
        if not box.open:
            return
        with report_errors(stop=False):
            table = parts(trace, source)
            table = table.assign(site=[site if "layer." in site else f"layer.0/{site}" for site in table["site"]])
            layer, head = anova_text.most_redirected(table)
            row = table[(table["head"] == head) & table["site"].str.startswith(f"layer.{layer}/")].iloc[0]
            sentence = anova_text.parts(table, row, layer, head)
            bars = chart.parts(table, layer, head, "dark" if style.dark() else "light", axes=axis_labels(trace))
            figures.show(bars, sentence, "context-parts")
            figures.note(sentence)
            if not any(name.endswith("/relevance") for name in trace.sites):
                figures.note("Of weights the logarithm is decomposed: it is the relevance up to a constant per query.")
            st.dataframe(table.drop(columns="site"), hide_index=True, alt=sentence)
