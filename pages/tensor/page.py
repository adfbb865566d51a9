"""The tensor: query × key × feature of one MTSA head, the sum behind each cell, and features in clusters."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    canvas_component,
    export,
    figures,
    models,
    numbers,
    pair_input,
    save_case,
    sentence_input,
    session_models,
    style,
    url_state,
)
from pages.shared import checkpoint_html as texts
from pages.shared.errors import shown
from pages.tensor import score_decomposition
from triattn_core.scenes.tensor import pair_of, prototypes
from triattn_core.tasks import TASKS
from triattn_core.trace import Choice
from triattn_core.views import tensor
from triattn_core.views.cube import places
from triattn_core.views.heads import maps
from triattn_core.views.heads.terms import profile, terms
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest, words

MECHANISMS = ("mtsa",)
SAYS = (
    'MTSA scores every <b class="t-query">query</b>, <b class="t-key">key</b> and <b class="t-feature">feature</b>: '
    "each feature shares out the query's attention in its own way. One head's tensor, as three linked slices."
)
MOST = 8  # clusters


@st.cache_resource(max_entries=4, show_spinner=False)
def head_tensor(_trace, source: str, layer: str, head: int):
    """The tensor of one head, when it is asked for."""
    from triattn_core.analysis.maps.mtsa_tensor import head_tensor as compute

    return compute(_trace, layer, head)


@st.cache_resource(max_entries=8, show_spinner=False)
def feature_clusters(_tensor, source: str, layer: str, head: int, most: int):
    """Its features in clusters."""
    from triattn_core.analysis.maps.clusters import cluster_features

    return cluster_features(_tensor.site(f"{layer}/tensor/weight"), most)


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_tensor, _found, source: str, choice: str, head: int, most: int):
    """The canvas without its exact numbers: these stay here. Kept, so that a click builds nothing."""
    return tensor.figure(_tensor, Choice.from_query(choice), _found.order.tolist(), _found.of.tolist(), exact=False)


@st.fragment
def explore(canvas, trace, layer: str, choice: Choice, found, key: str, below: str) -> None:
    """Figure, inspector and what stands behind the chosen cell: a click runs this alone.

    below: the key of the clusters' figure, which stands at the same pair until a cell is chosen there.
    """
    at = canvas_component.cell(key, canvas_component.show(canvas, key), *places(canvas))
    st.session_state["shown_cell"].update(at=at)
    told = cell.read(trace, choice, dict(zip(tensor.NEEDS, at)))
    canvas_component.answer(key, {"cell": at, "stamp": canvas.payload["stamp"], "numbers": told})
    canvas_component.answer(below, {"cell": pair_of(at, found.of.tolist())})
    numbers.below(trace, choice, False, at[0], canvas.payload["cells"])
    array, spoken = trace.site(choice.site), dict(trace.texts)
    pair = tuple(words(array, spoken, axis)[i] for axis, i in zip(("query", "key"), at))
    with st.container(key="main"):
        left, right = st.columns([1.15, 1], gap="large")
    theme = "dark" if style.dark() else "light"
    left.html(score_decomposition.sum_of(terms(trace, layer, at), trace, pair, at[2], theme))
    right.html(score_decomposition.agreement(profile(trace, layer, at), found.of.tolist(), pair, at[2]))


head, _ = style.opening()
style.say(head, "The tensor", SAYS)
cards = sentence_input.shelf(MECHANISMS)
if not cards:
    st.info("No MTSA checkpoint is here yet: see Checkpoints for what is on the shelf.")
    st.stop()
task = sentence_input.current_checkpoint(cards).config["task"]
example = sentence_input.example(task)
says = st.container()
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    card = sentence_input.checkpoint(cards)
with shown():
    run = models.explain(card, example)
with settings:
    layer = sentence_input.layer(run.trace)
    masks = str(run.trace.meta["masks"]).split(",")
    at_head = url_state.pick("Head", list(range(len(masks))), "head", show=lambda i: str(i + 1), width=76)
    quantity = url_state.segments("Quantity", ["weight", "relevance"], "quantity")
    most = url_state.pick("Clusters", list(range(1, MOST + 1)), "clusters", default=4, width=84)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with says:
    pair_input.prediction(run)
source = repr(run.source)
with shown():
    trace = head_tensor(run.trace, source, layer, at_head)
found = feature_clusters(trace, source, layer, at_head, most)
choice = Choice(f"{layer}/tensor/{quantity}")
canvas = figure(trace, found, source, choice.query(), at_head, most)
key = canvas_component.key("tensor", *trace.texts.values(), layer)
shows = {"layer": layer, "head": at_head + 1, "quantity": quantity, "clusters": most}
spot = st.session_state.setdefault("shown_cell", {})
with tail:
    with st.popover("Keep", width=76, key="keep"):
        save_case.form(task, TASKS[task].row(example), "tensor")
    export.menu(
        f"tensor-{layer.replace('/', '-')}-head-{at_head + 1}",
        key,
        lambda: tensor.figure(trace, choice, found.order.tolist(), found.of.tolist(), at=spot.get("at")),
        lambda: strongest(trace, choice),
        trace,
        session_models.Saved("tensor", [card], example, lambda: {**shows, "cell": spot.get("at")}),
    )
count = len(found.prototypes)
below = canvas_component.key("prototypes", *trace.texts.values(), layer, str(at_head), str(count))
explore(canvas, trace, layer, choice, found, key, below)
clusters = f"{count} cluster{'s' * (count > 1)} of {len(found.of)} features"
aside = f"{clusters} explain{'s' * (count == 1)} {100 * found.explained:.3g} % of how their maps differ"
st.html(texts.section("Features clustered by their maps", aside))
st.html(
    '<p class="t-note">Each map is the mean of a cluster: again a distribution over keys in every row. '
    "Ward's method, Hellinger distance; clusters are numbered as they stand in the figure above.</p>"
)
canvas_component.show(prototypes(trace, layer, found), below)
figures.numbers(
    "The clusters' maps as numbers",
    lambda: maps.rows(
        means := maps.prototypes(trace, layer, found.of.tolist(), found.prototypes, found.typical),
        trace.texts,
        [{"cluster": one.title} for one in means],
    ),
    "means",
)
