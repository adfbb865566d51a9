"""COIN: a pair of sentences, how each block aligns them with the context term and without it, and what that decides."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    ablation,
    canvas_component,
    export,
    figures,
    languages,
    models,
    pair_input,
    save_case,
    session_models,
    style,
    token_grouping,
    url_state,
)
from pages.shared.errors import shown
from triattn_core.scenes.coin import answers, feature_orders
from triattn_core.tasks import TASKS
from triattn_core.views import coin
from triattn_core.views.coin.blocks import switch, table

MECHANISMS = ("coin",)
SAYS = (
    'Each block aligns every <b class="t-query">query</b> token with the <b class="t-key">keys</b> of the other '
    "sentence: with the context of its own sentence, and without it."
)
WAYS = {"A over B": "a_over_b", "B over A": "b_over_a"}
GATE = (
    "COIN's tokens are words, in Chinese characters. A gate is no share of anything and a score has no sum: neither "
    "folds, and both are shown of tokens alone."
)
GATES = ("per token", "per feature")


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_whole, _trace, _unread, source: str, way: str, _answers, label: str, features: bool, at=None):
    """The canvas, kept: a click builds nothing."""
    orders = feature_orders(_whole, way) if features else ()
    return coin.figure(_whole, _trace, way, _answers, label, orders, at, _unread)


@st.fragment
def explore(canvas, key: str, pair: str, way: str, at: list[int]) -> None:
    """The figure: a click runs this alone, to put the chosen cell into the URL and into `at`."""
    canvas_component.carry_cell(key, pair, way, reverse_pair)
    sizes = [len(canvas.payload["axes"][axis]["label"]) for axis in coin.NEEDS]
    known = [range(n) for n in (*sizes, len(canvas.payload["blocks"]), canvas.payload["wide"], *sizes)]
    at[:] = canvas_component.cell(key, canvas_component.show(canvas, key), known, canvas.payload["cell"])
    canvas_component.remember_cell(pair, way, at)
    canvas_component.answer(key, {"cell": list(at)})


def reverse_pair(cell: list[int]) -> list[int]:
    """The same pair of tokens in the other direction."""
    query, key, block, feature, first, second = cell
    return [key, query, block, feature, second, first]


head, _ = style.opening()
style.say(head, "COIN", SAYS)
speaks, cards = languages.single(models.shelf(None, MECHANISMS), "checkpoint", prefer="en")
if not cards:
    st.info("No COIN checkpoint is here yet: see Checkpoints for what is on the shelf.")
    st.stop()
task = TASKS[cards[0].config["task"]]
example = pair_input.pair(speaks, task)
says = st.container()
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    card = url_state.pick("Checkpoint", cards, "checkpoint", show=lambda card: card.name, width=150)
with shown():
    found = ablation.explained(card, example)
with settings:
    way = WAYS[url_state.direction(WAYS)]
    gates = st.container(width="content", key="gates")
    off = url_state.segments("Switch off", list(found), "off", show=switch)
    as_read = token_grouping.controls((token_grouping.COIN,), hide=False, says=GATE)
    with gates:
        gate = GATES[0] if as_read.folds else url_state.segments("Gate", GATES, "gate")
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
token_grouping.missing(found[""].trace.texts, as_read)
unread = found[off].trace
found = {name: models.read(one, as_read) for name, one in found.items()}
whole, here = found[""], found[off]
label = whole.prediction.labels[whole.prediction.best]
with says:
    pair_input.prediction(here, [f"whole model: {label}"] if off else [])
trace, shows = here.trace, {"way": way, "off": off, "features": gate == GATES[1], **token_grouping.of_texts(as_read)}
drawn = (whole.trace, trace, unread, repr(here.source), way, answers(found), label, shows["features"])
with shown():
    canvas = figure(*drawn)
pair = canvas_component.key("coin", *trace.texts.values(), as_read.name, *as_read.own)
key = canvas_component.key(pair, way)
at = list(canvas.payload["cell"])
with tail:
    with st.popover("Keep", width=76, key="keep"):
        save_case.form(task.NAME, task.row(example), "coin")
    name = f"coin-{way.replace('_', '-')}" + (f"-without-{switch(off).replace(' ', '-')}" if off else "")
    name += token_grouping.ending(as_read)
    saved = session_models.Saved("coin", [card], example, lambda: {**shows, "cell": tuple(at)})
    export.menu(name, key, lambda: figure(*drawn, tuple(at)), lambda: table(trace, way), trace, saved)
explore(canvas, key, pair, way, at)
figures.numbers("All pairs of all blocks as numbers", lambda: table(trace, way), "numbers")
