"""The tensor: query × key × feature of one MTSA head, the sum behind each cell, and features in clusters."""

from __future__ import annotations

import streamlit as st

from pages.common import cards as texts
from pages.common import (
    encoded,
    explorer,
    export,
    figures,
    inputs,
    keeping,
    models,
    numbers,
    shared,
    state,
    style,
    summed,
)
from pages.common.errors import shown
from triattn_core.case_card.heads import pair_of, prototypes
from triattn_core.tasks import TASKS
from triattn_core.trace import Choice
from triattn_core.views import cell, head_maps, tensor
from triattn_core.views.cube import places
from triattn_core.views.strongest import strongest, words
from triattn_core.views.terms import profile, terms

MECHANISMS = ("mtsa",)
SAYS = (
    'MTSA scores every <b class="t-query">query</b>, <b class="t-key">key</b> and <b class="t-feature">feature</b>: '
    "each feature shares out the query's attention in its own way. One head's tensor, as three linked slices."
)
MOST = 8  # clusters


@st.cache_resource(max_entries=4, show_spinner=False)
def whole(_trace, source: str, layer: str, head: int):
    """The tensor of one head, when it is asked for."""
    from triattn_core.analysis.tensor import tensor as compute

    return compute(_trace, layer, head)


@st.cache_resource(max_entries=8, show_spinner=False)
def clustered(_tensor, source: str, layer: str, head: int, most: int):
    """Its features in clusters."""
    from triattn_core.analysis.clusters import clusters

    return clusters(_tensor.site(f"{layer}/tensor/weight"), most)


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_tensor, _found, source: str, choice: str, head: int, most: int):
    """The canvas without its exact numbers: these stay here. Kept, so that a click builds nothing."""
    return tensor.figure(_tensor, Choice.from_query(choice), _found.order.tolist(), _found.of.tolist(), exact=False)


@st.fragment
def explore(canvas, trace, layer: str, choice: Choice, found, key: str, below: str) -> None:
    """Figure, inspector and what stands behind the chosen cell: a click runs this alone.

    below: the key of the clusters' figure, which stands at the same pair until a cell is chosen there.
    """
    at = explorer.cell(key, explorer.show(canvas, key), *places(canvas))
    st.session_state["shown_cell"].update(at=at)
    told = cell.read(trace, choice, dict(zip(tensor.NEEDS, at)))
    explorer.answer(key, {"cell": at, "stamp": canvas.payload["stamp"], "numbers": told})
    explorer.answer(below, {"cell": pair_of(at, found.of.tolist())})
    numbers.below(trace, choice, False, at[0], canvas.payload["cells"])
    array, spoken = trace.site(choice.site), dict(trace.texts)
    pair = tuple(words(array, spoken, axis)[i] for axis, i in zip(("query", "key"), at))
    with st.container(key="main"):
        left, right = st.columns([1.15, 1], gap="large")
    theme = "dark" if style.dark() else "light"
    left.html(summed.sum_of(terms(trace, layer, at), trace, pair, at[2], theme))
    right.html(summed.agreement(profile(trace, layer, at), found.of.tolist(), pair, at[2]))


head, _ = style.opening()
style.say(head, "The tensor", SAYS)
cards = encoded.shelf(MECHANISMS)
if not cards:
    st.info("No MTSA checkpoint is here yet: see Checkpoints for what is on the shelf.")
    st.stop()
task = encoded.chosen(cards).config["task"]
example = encoded.example(task)
says = st.container()
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    card = encoded.checkpoint(cards)
with shown():
    run = models.explain(card, example)
with settings:
    layer = encoded.layer(run.trace)
    masks = str(run.trace.meta["masks"]).split(",")
    at_head = state.pick("Head", list(range(len(masks))), "head", show=lambda i: str(i + 1), width=76)
    quantity = state.segments("Quantity", ["weight", "relevance"], "quantity")
    most = state.pick("Clusters", list(range(1, MOST + 1)), "clusters", default=4, width=84)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with says:
    inputs.prediction(run)
source = repr(run.source)
with shown():
    trace = whole(run.trace, source, layer, at_head)
found = clustered(trace, source, layer, at_head, most)
choice = Choice(f"{layer}/tensor/{quantity}")
canvas = figure(trace, found, source, choice.query(), at_head, most)
key = explorer.key("tensor", *trace.texts.values(), layer)
shows = {"layer": layer, "head": at_head + 1, "quantity": quantity, "clusters": most}
spot = st.session_state.setdefault("shown_cell", {})
with tail:
    with st.popover("Keep", width=76, key="keep"):
        keeping.form(task, TASKS[task].row(example), "tensor")
    export.menu(
        f"tensor-{layer.replace('/', '-')}-head-{at_head + 1}",
        key,
        lambda: tensor.figure(trace, choice, found.order.tolist(), found.of.tolist(), at=spot.get("at")),
        lambda: strongest(trace, choice),
        trace,
        shared.Saved("tensor", [card], example, lambda: {**shows, "cell": spot.get("at")}),
    )
count = len(found.prototypes)
below = explorer.key("prototypes", *trace.texts.values(), layer, str(at_head), str(count))
explore(canvas, trace, layer, choice, found, key, below)
clusters = f"{count} cluster{'s' * (count > 1)} of {len(found.of)} features"
aside = f"{clusters} explain{'s' * (count == 1)} {100 * found.explained:.3g} % of how their maps differ"
st.html(texts.section("Features clustered by their maps", aside))
st.html(
    '<p class="t-note">Each map is the mean of a cluster: again a distribution over keys in every row. '
    "Ward's method, Hellinger distance; clusters are numbered as they stand in the figure above.</p>"
)
explorer.show(prototypes(trace, layer, found), below)
figures.numbers(
    "The clusters' maps as numbers",
    lambda: head_maps.rows(
        means := head_maps.prototypes(trace, layer, found.of.tolist(), found.prototypes, found.typical),
        trace.texts,
        [{"cluster": one.title} for one in means],
    ),
    "means",
)
