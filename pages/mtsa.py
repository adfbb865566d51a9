"""MTSA: one sentence, or premise and hypothesis: what the model says, and each head's maps behind it."""

from __future__ import annotations

import streamlit as st

from pages.common import (
    again,
    encoded,
    explorer,
    export,
    figures,
    inputs,
    keeping,
    models,
    reading,
    shared,
    state,
    style,
)
from pages.common.errors import shown
from triattn_core.case_card.heads import SCORES, maps
from triattn_core.tasks import TASKS
from triattn_core.views import head_maps

MECHANISMS = ("mtsa",)
SAYS = (
    'Each <b class="t-query">governor</b> (query, down) shares out its token2token weight among '
    '<b class="t-key">dependents</b> (keys, across); source2token is what a token has by itself, '
    '<b class="t-feature">feature</b> by feature. What a head passes on joins the two.'
)
KEYS = ("query", "key", "map", "feature")


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_trace, source: str, layer: str, drawn: tuple[int, ...], quantity: str, grid: bool, at=None):
    """The canvas of some heads, kept: a click builds nothing."""
    return maps(_trace, layer, drawn, quantity, not grid, at)


@st.fragment
def explore(
    canvas,
    key: str,
    at: list[int],
    drawn: tuple[int, ...],
    link: dict[str, str],
    found: models.Explained,
    site: str,
    row: dict,
) -> None:
    """The figure: a click runs this alone, to put the chosen cell into the URL, into `at` and into the link.

    site: of `found`, whose cell the command prints; in relevance that is the score before its scale and its mask.
    """
    axes, panels = canvas.payload["axes"], canvas.payload["panels"]
    places = range(len(panels[0]["order"] or [0]))
    known = [range(len(axes["query"]["label"])), range(len(axes["key"]["label"])), range(len(panels)), places]
    at[:] = explorer.cell(key, explorer.show(canvas, key), known, canvas.payload["cell"])
    explorer.answer(key, {"cell": list(at)})
    query, dependent, panel, place = at
    feature = (panels[panel]["order"] or [0])[place]
    opens, where = {**link, "head": str(drawn[panel] + 1)}, "in tokens"
    if not canvas.payload["notes"]:  # what is folded there stands at no one cell
        opens, where = opens | {"cell": f"{query}.{dependent}.{feature}"}, "at this cell"
    st.page_link("pages/tensor.py", label=f"The tensor of head {drawn[panel] + 1}, {where}", query_params=opens)
    cell = again.cell(found.trace, site, {"head": drawn[panel], "query": query, "key": dependent})
    again.command(found.card.name, row, cell)


head, _ = style.opening()
style.say(head, "MTSA", SAYS)
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
    found = models.explain(card, example)
trace = found.trace
with settings:
    layer = encoded.layer(trace)
    pairs = [tuple(head_maps.beside(trace, i)) for i in range(max(map(len, head_maps.groups(trace).values())))]
    every = tuple(range(int(trace.meta["heads"])))
    choices = pairs if len(pairs[0]) == len(every) else [*pairs, every]
    names = {one: " and ".join(str(i + 1) for i in one) for one in pairs} | {every: f"all {len(every)}"}
    drawn = state.pick("Heads", choices, "heads", show=lambda one: names.get(one, str(one)), width=108)
    asked = st.container(width="content", key="quantities")
    as_read = reading.controls((reading.TEXT,), hide=False, says=f"Weights alone fold: {SCORES}.")
    with asked:
        quantity = state.segments("Quantity", ["weight", "relevance"][: 1 if as_read.folds else 2], "quantity")
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with says:
    inputs.prediction(found)
reading.missing(trace.texts, as_read)
read, grid = models.read(found, as_read), drawn not in pairs
with shown():
    canvas = figure(read.trace, repr(read.source), layer, drawn, quantity, grid)
shows = {"layer": layer, "heads": [i + 1 for i in drawn], "quantity": quantity, "features": not grid}
shows |= reading.of_texts(as_read)
key = explorer.key("mtsa", *trace.texts.values(), layer, str(grid), as_read.name, *as_read.own)
at = list(canvas.payload["cell"])
with tail:
    with st.popover("Keep", width=76, key="keep"):
        keeping.form(task, TASKS[task].row(example), "mtsa")
    export.menu(
        f"mtsa-{layer.replace('/', '-')}" + reading.ending(as_read),
        key,
        lambda: figure(read.trace, repr(read.source), layer, drawn, quantity, grid, tuple(at)),
        lambda: head_maps.table(read.trace, layer),
        read.trace,
        shared.Saved("mtsa", [card], example, lambda: {**shows, "cell": tuple(at)}),
    )
link = encoded.link(example, task, card) | ({"of": layer.partition("/")[0]} if "/" in layer else {})
explore(canvas, key, at, drawn, link, read, f"{layer}/token2token/{quantity}", TASKS[task].row(example))
figures.numbers("All pairs of all heads as numbers", lambda: head_maps.table(read.trace, layer), "numbers")
