"""Tri-Attention cube: an example, what the model says, and the cube of weights behind it."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    attention_worth,
    canvas_component,
    cell_command,
    choice_input,
    export,
    models,
    numbers,
    page_setup,
    save_case,
    session_models,
    task_picker,
    token_grouping,
    url_state,
)
from pages.shared.errors import shown
from triattn_core.analysis.maps.strongest_head import most_context
from triattn_core.scenes.cube import Settings
from triattn_core.tasks import TASKS
from triattn_core.trace import Choice
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import cube
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest

MECHANISMS = ("tri",)


def settings(model: dict, words: task_picker.Words, whole: models.Explained | None) -> tuple[Choice, TokenGrouping]:
    """The pickers that say which cube of this model is shown, to what it folds, and what of it is hidden."""
    direction = words.directions[url_state.direction(words.directions)]
    opens = (lambda layer: head(whole.trace, repr(whole.source), direction, layer)) if whole else None
    choice = url_state.site(direction, int(model.get("layers", 2)), int(model.get("heads", 12)), opens)
    ways = (*words.ways, *(way for way in ("phrases", "words") if way not in words.ways))
    context = token_grouping.Pick("Context as", "context", ("context",), ways)
    return choice, token_grouping.controls((token_grouping.QUERY, token_grouping.KEY, context))


@st.cache_data(max_entries=64, show_spinner=False)
def head(_trace, source: str, direction: str, layer: int) -> int | None:
    """The head that is shown first: the one whose third order says most of this example."""
    return most_context(_trace, layer, direction)


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_trace, source: str, choice: str, hide: bool):
    """The canvas without its exact numbers: these stay here. Kept, so that a click builds nothing."""
    return cube.figure(_trace, Choice.from_query(choice), hide, exact=False)


@st.fragment
def explore(found: models.Explained, choice: Choice, hide: bool, key: str, row: dict, part: int | None) -> None:
    """Figure, inspector and lists: a click runs this alone.  part: of a task that chooses among texts, from 1."""
    canvas = figure(found.trace, repr(found.source), choice.query(), hide)
    at = canvas_component.cell(key, canvas_component.show(canvas, key), *cube.places(canvas))
    st.session_state["shown_cell"].update(at=at)
    told = cell.read(found.trace, choice, dict(zip(cube.NEEDS, at)))
    canvas_component.answer(key, {"cell": at, "stamp": canvas.payload["stamp"], "numbers": told})
    asked = cell_command.cell(
        found.trace, choice.site, dict([*choice.index, *choice.reduce, *zip(cube.NEEDS, at)]), part
    )
    cell_command.command(found.card.name, row, asked)
    numbers.below(found.trace, choice, hide, at[0], canvas.payload["cells"])


top = page_setup.open_page("Tri-Attention cube", lambda words: words.cube, MECHANISMS)
task, words, card, example, pairs = top.task, top.words, top.card, top.example, top.pairs
whole = None
with shown(stop=False):  # the pickers stay
    whole = models.explain(card, example, top.option)
with top.settings:
    choice, as_read = settings(card.config["model"], words, whole)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
if not pairs:
    opens = choice_input.link(task=words.label, compare="options", checkpoint=card.name)
    top.beside.page_link("pages/side_by_side/page.py", label="Compare two", query_params=opens)
if whole is None:
    st.stop()
top.say(whole, choice)
token_grouping.missing(whole.trace.texts, as_read)
found, hide = models.read(whole, as_read, choice.site.rsplit("/", 1)[0]), as_read.hide
key = canvas_component.key("cube", *found.trace.texts.values(), choice.site.split("/")[1], as_read.name, *as_read.own)
more = as_read.settings
part = None if pairs else whole.prediction.option + 1
if part:
    more["option"] = part
# What is saved opens on the chosen cell: the fragment writes it here, the download reads it when it is asked for.
spot = st.session_state.setdefault("shown_cell", {})
with tail:
    with st.popover("Keep", width=76, key="keep"):
        save_case.form(task, TASKS[task].row(example), "cube")
    export.menu(
        f"cube-{choice.site.replace('/', '-')}" + token_grouping.ending(as_read),
        key,
        lambda: cube.figure(found.trace, choice, hide, at=spot.get("at")),
        lambda: strongest(found.trace, choice, hide_special=hide),
        found.trace,
        session_models.Saved("cube", [card], example, lambda: Settings.of(choice, **more, cell=spot.get("at"))),
    )
attention_worth.notes([card])
explore(found, choice, hide, key, TASKS[task].row(example), part)
