"""Side by side: one example under two to four checkpoints, or two of its options, or two inputs, under one; on one
colour scale."""

from __future__ import annotations

import streamlit as st

from pages.common import (
    answers,
    compared,
    edited,
    explorer,
    export,
    figures,
    given,
    inputs,
    keeping,
    models,
    pinned,
    reading,
    shared,
    state,
    style,
    tasks,
)
from pages.common.errors import notice, shown
from triattn_core.case_card import side_by_side as scene
from triattn_core.tasks import TASKS
from triattn_core.views import side_by_side as view
from triattn_core.views.canvas import Canvas
from triattn_core.views.panels import first_cell

KINDS = compared.KINDS
MECHANISMS, OPTIONS, INPUTS = "mechanisms", "options", "inputs"
EDITS = (
    "One model on a text and on the same text edited, tokens aligned by their difference: what does the change do? "
    "Rows of both maps share one scale."
)


@st.fragment
def explore(canvas: Canvas, key: str, known: list[range], at: list[int]) -> None:
    """The figure: a click runs this alone, to put the chosen cell into the URL and into `at`, for what is saved."""
    at[:] = explorer.cell(key, explorer.show(canvas, key), known, canvas.payload["cell"])
    explorer.answer(key, {"cell": list(at)})


head, beside = style.opening()
with beside:
    task = tasks.picker(KINDS, compared.KEY, "checkpoint")
    given.controls(task)
words, pairs = tasks.TASKS[task], task == "pairs"
style.say(head, "Side by side", words.side)
tasks.missing(KINDS)
speaks, cards = compared.spoken(models.shelf(task, KINDS), prefer="zh")  # the paper's own case is Chinese
example = inputs.pair(speaks) if pairs else given.example(task)
edits = st.container()
said = st.container()
if len(cards) < view.FEWEST:
    st.info("Side by side needs two checkpoints of one task: see Checkpoints for what is on the shelf.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    ways = [MECHANISMS, INPUTS] if pairs else [MECHANISMS, OPTIONS, INPUTS]
    way = state.pick("Compare", ways, "compare", width=112)
    by_option, by_input = way == OPTIONS, way == INPUTS
    if way != MECHANISMS:
        style.say(head, "Side by side", words.options if by_option else EDITS)
    if by_input:
        picked = edited.settings(cards, words)
    else:
        picked = pinned.settings(task, words) if by_option else compared.settings(cards, words)
    as_read = reading.controls(*reading.BESIDE[way])
    if way != MECHANISMS:
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
if by_input:
    with edits:
        other = edited.second(task, example)
with shown():
    option = None if pairs else given.now(task).option
    if by_input:
        side = scene.inputs(shared.SHARED, example, other, *picked, option, as_read)
    elif by_option:
        side = scene.options(shared.SHARED, example, option, given.now(task).other, *picked, as_read)
    else:
        side = scene.mechanisms(shared.SHARED, example, option, *picked, reading=as_read)
for note in side.notes:
    notice(note)
reading.missing(side.texts, as_read)
first = first_cell(side.panels, side.gap)
known, at = [range(size) for size in side.panels[0].drawn.shape], list(first)
key = explorer.key("side", *side.parts)
with said:
    if by_option:
        second = side.found[1].prediction.option
        answers.block(example, {"": side.found[0]}, side.choice, second, pins=True)
    elif by_input:
        if not pairs:
            answers.block(example, {"": side.found[0]}, side.choice)
        edited.says(side)
    elif not pairs:
        answers.block(example, dict(zip(compared.named([one.card for one in side.found]), side.found)), side.choice)
    if way == MECHANISMS:  # more settings than with options: what is saved stands above them
        with st.container(horizontal=True, vertical_alignment="center"):
            compared.says(side, notes=pairs)
            tail = st.container(horizontal=True, width="content", key="tail")
with tail:
    with st.popover("Keep", width=76, key="keep"):
        keeping.form(task, TASKS[task].row(example), "side_by_side")
    export.menu(
        "side-by-side" + reading.ending(as_read),
        key,
        lambda: scene.figure(side, tuple(at)),
        lambda: view.table(side.panels, side.gap, side.texts, side.across),
        side.trace,
        shared.Saved("side_by_side", side.cards, example, lambda: {**scene.chosen(side), "cell": tuple(at)}),
    )
explore(scene.figure(side, first), key, known, at)
figures.numbers("All cells as numbers", lambda: view.table(side.panels, side.gap, side.texts, side.across), "numbers")
