"""Side by side: one example under two to four checkpoints, or two of its options, or two inputs, under one; on one
colour scale."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    attention_worth,
    canvas_component,
    checkpoint_picker,
    choice_input,
    export,
    figures,
    models,
    option_panel,
    pair_input,
    save_case,
    session_models,
    style,
    task_picker,
    token_grouping,
    url_state,
)
from pages.shared.errors import notice, shown
from pages.side_by_side import edited_input, option_picker
from triattn_core.scenes import side_by_side as scene
from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.views import side_by_side as view
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.side_by_side.panels import first_cell

KINDS = checkpoint_picker.KINDS
MECHANISMS, OPTIONS, INPUTS = "mechanisms", "options", "inputs"
EDITS = (
    "One model on a text and on the same text edited, tokens aligned by their difference: what does the change do? "
    "Rows of both maps share one scale."
)


@st.fragment
def explore(canvas: Canvas, key: str, known: list[range], at: list[int]) -> None:
    """The figure: a click runs this alone, to put the chosen cell into the URL and into `at`, for what is saved."""
    at[:] = canvas_component.cell(key, canvas_component.show(canvas, key), known, canvas.payload["cell"])
    canvas_component.answer(key, {"cell": list(at)})


head, beside = style.opening()
with beside:
    task = task_picker.picker(KINDS, checkpoint_picker.KEY, "checkpoint")
    choice_input.controls(task)
words, pairs = task_picker.TASKS[task], form(task) is InputForm.PAIR
style.say(head, "Side by side", words.side)
task_picker.missing(KINDS)
speaks, cards = checkpoint_picker.pick_language(
    models.shelf(task, KINDS), prefer="zh"
)  # the paper's own case is Chinese
example = pair_input.pair(speaks, TASKS[task]) if pairs else choice_input.example(task)
edits = st.container()
said = st.container()
if len(cards) < view.FEWEST:
    st.info("Side by side needs two checkpoints of one task: see Checkpoints for what is on the shelf.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    ways = [MECHANISMS, INPUTS] if pairs else [MECHANISMS, OPTIONS, INPUTS]
    way = url_state.pick("Compare", ways, "compare", width=112)
    by_option, by_input = way == OPTIONS, way == INPUTS
    if way != MECHANISMS:
        style.say(head, "Side by side", words.options if by_option else EDITS)
    if by_input:
        picked = edited_input.settings(cards, words)
    else:
        picked = option_picker.settings(task, words) if by_option else checkpoint_picker.settings(cards, words)
    as_read = token_grouping.controls(*token_grouping.BESIDE[way])
    if way != MECHANISMS:
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
if by_input:
    with edits:
        other = edited_input.second(task, example)
above = st.container()  # a changing number of lines here must not move the figure, which would be shown twice
with above, shown():
    option = None if pairs else choice_input.current_input(task).option
    if by_input:
        side = scene.inputs(session_models.SHARED, example, other, *picked, option, as_read)
    elif by_option:
        side = scene.options(
            session_models.SHARED, example, option, choice_input.current_input(task).other, *picked, as_read
        )
    else:
        side = scene.mechanisms(session_models.SHARED, example, option, *picked, reading=as_read)
with above:
    for note in side.notes:
        notice(note)
    token_grouping.missing(side.texts, as_read)
first = first_cell(side.panels, side.gap)
known, at = [range(size) for size in side.panels[0].drawn.shape], list(first)
key = canvas_component.key("side", *side.parts)
with said:
    if by_option:
        second = side.found[1].prediction.option
        option_panel.show_options(example, {"": side.found[0]}, side.choice, second, pins=True)
    elif by_input:
        if not pairs:
            option_panel.show_options(example, {"": side.found[0]}, side.choice)
        edited_input.show_effect(side)
    elif not pairs:
        option_panel.show_options(
            example, dict(zip(checkpoint_picker.named([one.card for one in side.found]), side.found)), side.choice
        )
    if way == MECHANISMS:  # more settings than with options: what is saved stands above them
        with st.container(horizontal=True, vertical_alignment="center"):
            checkpoint_picker.show_predictions(side, notes=pairs)
            tail = st.container(horizontal=True, width="content", key="tail")
with tail:
    with st.popover("Keep", width=76, key="keep"):
        save_case.form(task, TASKS[task].row(example), "side_by_side")
    export.menu(
        "side-by-side" + token_grouping.ending(as_read),
        key,
        lambda: scene.figure(side, tuple(at)),
        lambda: view.table(side.panels, side.gap, side.texts, side.across),
        side.trace,
        session_models.Saved(
            "side_by_side", side.cards, example, lambda: {**scene.side_settings(side), "cell": tuple(at)}
        ),
    )
attention_worth.notes(side.cards)
explore(scene.figure(side, first), key, known, at)
if measured := attention_worth.table(side.cards):
    st.html(measured)
figures.numbers("All cells as numbers", lambda: view.table(side.panels, side.gap, side.texts, side.across), "numbers")
