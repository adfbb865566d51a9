"""MTSA: one sentence, or premise and hypothesis: what the model says, and each head's maps behind it."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    canvas_component,
    cell_command,
    export,
    figures,
    models,
    pair_input,
    save_case,
    sentence_input,
    session_models,
    style,
    token_grouping,
    url_state,
)
from pages.shared.errors import shown
from triattn_core.scenes.mtsa import SCORES, maps
from triattn_core.tasks import TASKS
from triattn_core.views.heads import maps as head_maps

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
    at[:] = canvas_component.cell(key, canvas_component.show(canvas, key), known, canvas.payload["cell"])
    canvas_component.answer(key, {"cell": list(at)})
    query, dependent, panel, place = at
    feature = (panels[panel]["order"] or [0])[place]
    opens, where = {**link, "head": str(drawn[panel] + 1)}, "in tokens"
    if not canvas.payload["notes"]:  # what is folded there stands at no one cell
        opens, where = opens | {"cell": f"{query}.{dependent}.{feature}"}, "at this cell"
    st.page_link("pages/tensor/page.py", label=f"The tensor of head {drawn[panel] + 1}, {where}", query_params=opens)
    cell = cell_command.cell(found.trace, site, {"head": drawn[panel], "query": query, "key": dependent})
    cell_command.command(found.card.name, row, cell)


head, _ = style.opening()
style.say(head, "MTSA", SAYS)
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
    found = models.explain(card, example)
trace = found.trace
with settings:
    layer = sentence_input.layer(trace)
    pairs = [tuple(head_maps.beside(trace, i)) for i in range(max(map(len, head_maps.groups(trace).values())))]
    every = tuple(range(int(trace.meta["heads"])))
    choices = pairs if len(pairs[0]) == len(every) else [*pairs, every]
    names = {one: " and ".join(str(i + 1) for i in one) for one in pairs} | {every: f"all {len(every)}"}
    drawn = url_state.pick("Heads", choices, "heads", show=lambda one: names.get(one, str(one)), width=108)
    asked = st.container(width="content", key="quantities")
    as_read = token_grouping.controls((token_grouping.TEXT,), hide=False, says=f"Weights alone fold: {SCORES}.")
    with asked:
        quantity = url_state.segments("Quantity", ["weight", "relevance"][: 1 if as_read.folds else 2], "quantity")
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with says:
    pair_input.prediction(found)
token_grouping.missing(trace.texts, as_read)
read, grid = models.read(found, as_read), drawn not in pairs
with shown():
    canvas = figure(read.trace, repr(read.source), layer, drawn, quantity, grid)
shows = {"layer": layer, "heads": [i + 1 for i in drawn], "quantity": quantity, "features": not grid}
shows |= token_grouping.of_texts(as_read)
key = canvas_component.key("mtsa", *trace.texts.values(), layer, str(grid), as_read.name, *as_read.own)
at = list(canvas.payload["cell"])
with tail:
    with st.popover("Keep", width=76, key="keep"):
        save_case.form(task, TASKS[task].row(example), "mtsa")
    export.menu(
        f"mtsa-{layer.replace('/', '-')}" + token_grouping.ending(as_read),
        key,
        lambda: figure(read.trace, repr(read.source), layer, drawn, quantity, grid, tuple(at)),
        lambda: head_maps.table(read.trace, layer),
        read.trace,
        session_models.Saved("mtsa", [card], example, lambda: {**shows, "cell": tuple(at)}),
    )
link = sentence_input.link(example, task, card) | ({"of": layer.partition("/")[0]} if "/" in layer else {})
explore(canvas, key, at, drawn, link, read, f"{layer}/token2token/{quantity}", TASKS[task].row(example))
figures.numbers("All pairs of all heads as numbers", lambda: head_maps.table(read.trace, layer), "numbers")
