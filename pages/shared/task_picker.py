"""Which task a page is about: those that have a checkpoint are offered, the others are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.shared import carried_input, languages, models, other_models, url_state
from pages.shared.errors import notice
from triattn_core.errors import quote
from triattn_core.tasks import TASKS as ALL
from triattn_core.tasks.task import ChoiceTask, PairTask

KEY = "task"  # of the widget, and in the URL
AXIS = '<b class="t-{0}">{0}</b>'.format


@dataclass(frozen=True)
class TaskLabels:
    """The labels of a task on the pages, its attention directions, and the units of its context.

    cube, side, options: the sentence beside the heading of each page, of the cube by direction, side by side with
    mechanisms and with options.
    units: of `text_units.UNITS`, the one it opens on first.
    """

    label: str
    directions: dict[str, str] = field(repr=False)
    units: tuple[str, ...]
    cube: Mapping[str, str] = field(repr=False)
    side: str = field(repr=False)
    options: str = field(default="", repr=False)


def _directions(a: str, b: str) -> dict[str, str]:
    return {f"{a} over {b}": "a_over_b", f"{b} over {a}": "b_over_a"}


QUERY, KEY_AXIS, CONTEXT = map(AXIS, ("query", "key", "context"))
KEYS = KEY_AXIS.replace(">key<", ">keys<")
LOOKS = f"how each {QUERY} token distributes its attention over the {CONTEXT}, likewise"
ROWS = f"one scale: how each {QUERY} token distributes its attention over {KEYS}."


def _choice(task: ChoiceTask) -> TaskLabels:
    """The labels of a task that chooses among texts, from its own words."""
    words = task.WORDS
    (first, second), unit = words.sides, words.units[0].removesuffix("s")
    query_axis, key_axis, context = (axis[0].lower() + axis[1:] for axis in words.axes)

    def roles(query: str, key: str) -> str:
        return f"{query[0].upper()}{query[1:]} {QUERY}, {key} {KEY_AXIS}, {context} {CONTEXT}."

    return TaskLabels(
        task.LABEL,
        _directions(first, second),
        words.units,
        {"a_over_b": roles(query_axis, key_axis), "b_over_a": roles(key_axis, query_axis)},
        f"One {words.noun}, several mechanisms, {ROWS}",
        f"Two {second}s under one model: {LOOKS} {unit} under both.",
    )


def _pair(task: PairTask) -> TaskLabels:
    """Of a task about two sentences."""

    def roles(query: str, key: str) -> str:
        return (
            f"Every cell is the weight that one {QUERY} token of {query} gives to one {KEY_AXIS} token of {key} "
            f"together with one {CONTEXT} token of either. Three slices of one cube, through one cell."
        )

    return TaskLabels(
        task.LABEL,
        _directions("A", "B"),
        ("tokens", "sentences"),
        {"a_over_b": roles("A", "B"), "b_over_a": roles("B", "A")},
        f"One pair under several mechanisms, on one colour scale. Each row distributes one {QUERY} token's "
        f"attention over {KEYS}; Tri is summed over context.",
    )


TASKS = {name: _choice(task) if task.FORM.chooses else _pair(task) for name, task in ALL.items() if task.FORM.joint}


def available_tasks(mechanisms: Sequence[str]) -> list[str]:
    """The tasks that have a checkpoint of one of these mechanisms."""
    tasks_here = {entry.config["task"] for entry in models.entries(mechanisms=mechanisms)}
    return [name for name in TASKS if name in tasks_here]


def picker(mechanisms: Sequence[str], *keys: str) -> str:
    """The chosen task, in the URL; by default that of the checkpoints in the link, else the first available.

    keys: the page's widgets that hold checkpoints.
    """
    tasks_here, link = available_tasks(mechanisms) or list(TASKS)[:1], st.query_params.get(KEY)
    if len(tasks_here) == 1:
        if link is not None and link != TASKS[tasks_here[0]].label:
            notice(f"The link asks for task {quote(link)}: there is no checkpoint for it here.")
        return tasks_here[0]
    url_state.forget(KEY)
    if link is None and st.session_state.get(KEY) not in tasks_here:
        requested_names = [name for key in keys for name in languages.requested_checkpoints(key)]
        linked = [
            name for name in tasks_here for entry in models.entries(name, mechanisms) if entry.name in requested_names
        ]
        carried = [name for name in tasks_here if name == carried_input.task()]
        st.session_state[KEY] = (linked or carried or tasks_here)[0]
    task = url_state.segments("Task", tasks_here, KEY, show=label, label_visibility="collapsed", on_change=_reset_units)
    carried_input.carry_input(task=task)
    return task


def _reset_units() -> None:
    """Another task: its context folds, and is cut into the units, as it opens."""
    first = TASKS[st.session_state[KEY]].units[0]
    st.session_state["context"] = first
    if "unit" in st.session_state:
        st.session_state["unit"] = first


def label(name: str) -> str:
    """A task in words, the same in the URL of every page."""
    return other_models.TITLE if name == other_models.TASK else ALL[name].LABEL if name in ALL else str(name)


def missing(mechanisms: Sequence[str]) -> None:
    """Shows the names of the tasks without a checkpoint."""
    tasks_here = available_tasks(mechanisms)
    names = [words.label.lower() for name, words in TASKS.items() if name not in tasks_here]
    if tasks_here and names:
        st.html(f'<p class="t-note">No checkpoint is here yet for {" and ".join(names)}.</p>')
