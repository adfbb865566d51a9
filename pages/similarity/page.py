"""Similarity: a passage and a question under one to four similarity functions, and the answer that comes of each."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    canvas_component,
    cell_command,
    choice_input,
    export,
    figures,
    pair_input,
    qa_models,
    save_case,
    session_models,
    style,
    token_grouping,
    url_state,
)
from pages.shared.errors import shown
from triattn_core.tasks import questions
from triattn_core.views import similarity as view
from triattn_core.views.lib.canvas import Canvas

SAYS = (
    'How each function scores every <b class="t-query">passage word</b> (down) against every '
    '<b class="t-key">question word</b> (across), and the answer found with it. Each function has a reader of its own, '
    "trained with it: what differs is the function and all weights that came of it. A reader always answers, even "
    "where the passage does not."
)
QUANTITIES = list(view.SCALES)


@st.fragment
def explore(canvas: Canvas, key: str, side: qa_models.Side, at: list[int], told: list) -> None:
    """The figure: a click runs this alone, to put the cell into the URL and its exact numbers below the maps."""
    sizes = [len(canvas.payload["axes"][axis]["label"]) for axis in ("query", "key")]
    known = [range(size) for size in (*sizes, len(side.panels))]
    at[:] = canvas_component.cell(key, canvas_component.show(canvas, key), known, canvas.payload["cell"])
    told[:] = qa_models.facts(side, at)
    canvas_component.answer(key, {"cell": list(at), "facts": told})
    asked = token_grouping.command(side.panels[at[2]].trace, told[at[2]], at)
    asked += f" --part {side.part + 1}" if side.parts > 1 else ""
    cell_command.command(side.cards[at[2]].name, questions.row(side.example), asked)


head, beside = style.opening()
with beside:
    choice_input.controls(questions.NAME)
style.say(head, "Similarity", SAYS)
cards = qa_models.shelf()
if not cards:
    st.info("No reader is here yet: train one with triattn train; Checkpoints shows what is on the shelf.")
    st.stop()
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    asked = st.container(width="stretch", key="asked")
example = choice_input.example(questions.NAME, asked)
with settings:
    chosen = qa_models.pick_readers(cards)
    asks = st.container(width="content", key="quantities")
    as_read = token_grouping.controls(token_grouping.PASSAGE, hide=False, says=token_grouping.TERMS)
    with asks:
        quantity = url_state.segments("Quantity", QUANTITIES["query" in as_read.folds :], "quantity")
    one = url_state.segments("Colour scale", ["one each", "shared"], "scale") == "shared" if len(chosen) > 1 else False
with shown():
    side = qa_models.read(chosen, qa_models.named(cards), example, settings, as_read)
with shown():
    counted = f"{view.counted(side.found[0].trace, side.part, side.parts)}; {pair_input.duration_text(side.found)}"
    caption = f"{', '.join(card.name for card in side.cards)}: {example.question}"
    look = {"quantity": quantity, "shared": one, "counted": counted, "caption": caption}
    canvas = view.figure(side.panels, **look)
token_grouping.missing(side.found[0].trace.texts, as_read)
parts = (str(side.part), as_read.name, *as_read.own, *(c.digest for c in side.cards))
key = canvas_component.key("similarity", example.passage, example.question, *parts)
at, told = list(canvas.payload["cell"]), []
with settings:
    with st.popover("Keep", width=76, key="keep"):
        save_case.form(questions.NAME, questions.row(example), "similarity")
    shows = {"quantity": quantity, "shared": one, "part": side.part + 1, "titles": [p.title for p in side.panels]}
    shows |= token_grouping.of_passage(as_read)
    export.menu(
        "similarity" + token_grouping.ending(as_read),
        key,
        lambda: view.figure(side.panels, cell=tuple(at), facts=told, exact=True, **look),
        lambda: view.table(side.panels),
        view.joined(side.panels),
        session_models.Saved("similarity", side.cards, example, lambda: {**shows, "cell": tuple(at)}),
    )
if notes := pair_input.notes(side.found):
    st.html(notes)
explore(canvas, key, side, at, told)
if any("O_" in one.title for one in side.panels):
    figures.note(qa_models.OUTPUTS)
figures.numbers("All cells as numbers", lambda: view.table(side.panels), "numbers")
