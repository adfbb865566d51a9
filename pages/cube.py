"""Tri-Attention cube: an example, what the model says, and the cube of weights behind it."""

from __future__ import annotations

import streamlit as st

from pages.common import again, asking, explorer, export, given, keeping, models, numbers, reading, shared, state, tasks
from pages.common.errors import shown
from triattn_core.analysis.reading import Reading
from triattn_core.case_card.cube import Settings
from triattn_core.tasks import TASKS
from triattn_core.trace import Choice
from triattn_core.views import cell, cube
from triattn_core.views.strongest import strongest

MECHANISMS = ("tri",)


def settings(model: dict, words: tasks.Words) -> tuple[Choice, Reading]:
    """The pickers that say which cube of this model is shown, to what it folds, and what of it is hidden."""
    direction = words.directions[state.direction(words.directions)]
    choice = state.site(direction, int(model.get("layers", 2)), int(model.get("heads", 12)))
    ways = (*words.ways, *(way for way in ("phrases", "words") if way not in words.ways))
    context = reading.Pick("Context as", "context", ("context",), ways)
    return choice, reading.controls((reading.QUERY, reading.KEY, context))


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_trace, source: str, choice: str, hide: bool):
    """The canvas without its exact numbers: these stay here. Kept, so that a click builds nothing."""
    return cube.figure(_trace, Choice.from_query(choice), hide, exact=False)


@st.fragment
def explore(found: models.Explained, choice: Choice, hide: bool, key: str, row: dict, part: int | None) -> None:
    """Figure, inspector and lists: a click runs this alone.  part: of a task that chooses among texts, from 1."""
    canvas = figure(found.trace, repr(found.source), choice.query(), hide)
    at = explorer.cell(key, explorer.show(canvas, key), *cube.places(canvas))
    st.session_state["shown_cell"].update(at=at)
    told = cell.read(found.trace, choice, dict(zip(cube.NEEDS, at)))
    explorer.answer(key, {"cell": at, "stamp": canvas.payload["stamp"], "numbers": told})
    asked = again.cell(found.trace, choice.site, dict([*choice.index, *choice.reduce, *zip(cube.NEEDS, at)]), part)
    again.command(found.card.name, row, asked)
    numbers.below(found.trace, choice, hide, at[0], canvas.payload["cells"])


top = asking.opened("Tri-Attention cube", lambda words: words.cube, MECHANISMS)
task, words, card, example, pairs = top.task, top.words, top.card, top.example, top.pairs
with top.settings:
    choice, as_read = settings(card.config["model"], words)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
if not pairs:
    opens = given.link(task=words.label, compare="options", checkpoint=card.name)
    top.beside.page_link("pages/side_by_side.py", label="Compare two", query_params=opens)
with shown():
    whole = models.explain(card, example, top.option)
top.say(whole, choice)
reading.missing(whole.trace.texts, as_read)
found, hide = models.read(whole, as_read, choice.site.rsplit("/", 1)[0]), as_read.hide
key = explorer.key("cube", *found.trace.texts.values(), choice.site.split("/")[1], as_read.name, *as_read.own)
more = as_read.settings
part = None if pairs else whole.prediction.option + 1
if part:
    more["option"] = part
# What is saved opens on the chosen cell: the fragment writes it here, the download reads it when it is asked for.
spot = st.session_state.setdefault("shown_cell", {})
with tail:
    with st.popover("Keep", width=76, key="keep"):
        keeping.form(task, TASKS[task].row(example), "cube")
    export.menu(
        f"cube-{choice.site.replace('/', '-')}" + reading.ending(as_read),
        key,
        lambda: cube.figure(found.trace, choice, hide, at=spot.get("at")),
        lambda: strongest(found.trace, choice, hide_special=hide),
        found.trace,
        shared.Saved("cube", [card], example, lambda: Settings.of(choice, **more, cell=spot.get("at"))),
    )
explore(found, choice, hide, key, TASKS[task].row(example), part)
