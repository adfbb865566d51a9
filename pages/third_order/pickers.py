"""Which task, which scores, and which cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import models as offered
from pages.shared import url_state
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.third_order import MEMBERS, TASKS, TRIANGLE, Score
from triattn_core.tasks.laboratory import LABORATORY, Example, LaboratoryTask

if TYPE_CHECKING:
    import numpy as np

WIDTH = 740  # pixels of the maps, as narrow windows have them
ROW, CELL = "third-order-row", ("third-order-key", "third-order-context")  # in session and link
FIRST = ("scaled_dot", "determinant", "strassen", "tree", "triangle")


def entries(task: LaboratoryTask) -> list[Entry]:
    """The models of a task with one head and a score of the family, in its order."""
    of_task = [entry for entry in offered.laboratory() if entry.config["task"] == task.NAME]
    known = [entry for entry in of_task if _name(entry) in MEMBERS]
    return sorted(known, key=lambda entry: list(MEMBERS).index(_name(entry)))


def _name(entry: Entry) -> str:
    """Of its score, in MEMBERS; of two-way attention none."""
    model = entry.config["model"]
    return model["similarity"] if model["mechanism"] == "tri" else model["mechanism"]


def is_triangle(entry: Entry) -> bool:
    """Whether it has no map of key and context, but one of pairs."""
    return _name(entry) == TRIANGLE.name


def score(entry: Entry) -> Score:
    """The score of a model."""
    return MEMBERS[_name(entry)]


def task() -> LaboratoryTask:
    """A task for which at least two scores of the family are trained."""
    tasks = [LABORATORY[name] for name in TASKS if len(entries(LABORATORY[name])) > 1]
    if not tasks:
        st.info("No laboratory checkpoints with two scores of one task are here: see Checkpoints.")
        st.stop()
    return url_state.segments("Task", tasks, "third-order-task", show=lambda task: task.LABEL)


def models(task: LaboratoryTask) -> list[Entry]:
    """The chosen ones of the task's models, in the URL."""
    by_label = {score(entry).label: entry for entry in entries(task)}
    first = [label for label, entry in by_label.items() if score(entry).name in FIRST]
    return [by_label[label] for label in url_state.several("Scores", list(by_label), first, f"{task.NAME}-scores")]


def cell(row: Example, maps: Sequence[np.ndarray]) -> tuple[int, int]:
    """The key and the context token whose cell is written out; at first that of the true cells, or of all, which has
    the most weight in all maps [I, J] together, and again when the row changes."""
    weights = sum(maps[1:], maps[0])
    i, j = max(row.truth or list(product(*map(range, weights.shape))), key=lambda place: weights[place])
    names = [_numbered(tokens) for tokens in (row.keys, row.context)]
    if st.session_state.get(ROW, row) != row:
        st.session_state.update({CELL[0]: names[0][i], CELL[1]: names[1][j]})
    st.session_state[ROW] = row
    with st.container(horizontal=True, vertical_alignment="bottom", key="cell"):
        key = url_state.pick("Key of the cell", names[0], CELL[0], int(i), width=240)
        context = url_state.pick("Context of the cell", names[1], CELL[1], int(j), width=240)
    return names[0].index(key), names[1].index(context)


def _numbered(tokens: Sequence[str]) -> list[str]:
    """The tokens; a repeated one with its place."""
    return [f"{token}, {i}" if tokens.count(token) > 1 else token for i, token in enumerate(tokens, 1)]
