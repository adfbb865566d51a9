"""COIN: a pair of sentences, how each block aligns them with the context term and without it, and what that decides."""

from __future__ import annotations

import streamlit as st

from pages.common import (
    explorer,
    export,
    figures,
    inputs,
    keeping,
    languages,
    models,
    reading,
    shared,
    state,
    style,
    switched,
)
from pages.common.errors import shown
from triattn_core.case_card.coin import answers, feature_orders
from triattn_core.tasks import pairs
from triattn_core.views import coin
from triattn_core.views.coin_blocks import switch, table

MECHANISMS = ("coin",)
SAYS = (
    'Each block aligns every <b class="t-query">query</b> token with the <b class="t-key">keys</b> of the other '
    "sentence: in the light of its own sentence, and without it."
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
    explorer.turn(key, pair, way, turned)
    sizes = [len(canvas.payload["axes"][axis]["label"]) for axis in coin.NEEDS]
    known = [range(n) for n in (*sizes, len(canvas.payload["blocks"]), canvas.payload["wide"], *sizes)]
    at[:] = explorer.cell(key, explorer.show(canvas, key), known, canvas.payload["cell"])
    explorer.stand(pair, way, at)
    explorer.answer(key, {"cell": list(at)})


def turned(cell: list[int]) -> list[int]:
    """The same pair of tokens in the other direction."""
    query, key, block, feature, first, second = cell
    return [key, query, block, feature, second, first]


head, _ = style.opening()
style.say(head, "COIN", SAYS)
speaks, cards = languages.single(models.shelf(pairs.NAME, MECHANISMS), "checkpoint", prefer="en")
if not cards:
    st.info("No COIN checkpoint is here yet: see Checkpoints for what is on the shelf.")
    st.stop()
example = inputs.pair(speaks)
says = st.container()
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    card = state.pick("Checkpoint", cards, "checkpoint", show=lambda card: card.name, width=150)
with shown():
    found = switched.explained(card, example)
with settings:
    way = WAYS[state.direction(WAYS)]
    gates = st.container(width="content", key="gates")
    off = state.segments("Switch off", list(found), "off", show=switch)
    as_read = reading.controls((reading.COIN,), hide=False, says=GATE)
    with gates:
        gate = GATES[0] if as_read.folds else state.segments("Gate", GATES, "gate")
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
reading.missing(found[""].trace.texts, as_read)
unread = found[off].trace
found = {name: models.read(one, as_read) for name, one in found.items()}
whole, here = found[""], found[off]
label = whole.prediction.labels[whole.prediction.best]
with says:
    inputs.prediction(here, [f"whole model: {label}"] if off else [])
trace, shows = here.trace, {"way": way, "off": off, "features": gate == GATES[1], **reading.of_texts(as_read)}
drawn = (whole.trace, trace, unread, repr(here.source), way, answers(found), label, shows["features"])
with shown():
    canvas = figure(*drawn)
pair = explorer.key("coin", *trace.texts.values(), as_read.name, *as_read.own)
key = explorer.key(pair, way)
at = list(canvas.payload["cell"])
with tail:
    with st.popover("Keep", width=76, key="keep"):
        keeping.form(pairs.NAME, pairs.row(example), "coin")
    name = f"coin-{way.replace('_', '-')}" + (f"-without-{switch(off).replace(' ', '-')}" if off else "")
    name += reading.ending(as_read)
    saved = shared.Saved("coin", [card], example, lambda: {**shows, "cell": tuple(at)})
    export.menu(name, key, lambda: figure(*drawn, tuple(at)), lambda: table(trace, way), trace, saved)
explore(canvas, key, pair, way, at)
figures.numbers("All pairs of all blocks as numbers", lambda: table(trace, way), "numbers")
