"""Which task, which scores, and which cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import models as offered
from pages.shared import url_state
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.third_order import FAMILY, TASKS, Score
from triattn_core.tasks.laboratory import LABORATORY, Example, LaboratoryTask

if TYPE_CHECKING:
    import numpy as np

WIDTH = 740  # pixels of the maps, as narrow windows have them
MOST = 4  # maps beside each other
ROW, CELL = "third-order-row", ("third-order-key", "third-order-context")  # in session and link
FIRST = ("scaled_dot", "determinant", "pairwise", "tree")


def entries(task: LaboratoryTask) -> list[Entry]:
    """The models of a task with one head and a score of the family, in its order."""
    of_task = [entry for entry in offered.laboratory() if entry.config["task"] == task.NAME]
    tri = [entry for entry in of_task if entry.config["model"]["mechanism"] == "tri"]
    known = [entry for entry in tri if entry.config["model"]["similarity"] in FAMILY]
    return sorted(known, key=lambda entry: list(FAMILY).index(entry.config["model"]["similarity"]))


def score(entry: Entry) -> Score:
    """The score of a model."""
    return FAMILY[entry.config["model"]["similarity"]]


def task() -> LaboratoryTask:
    """A task for which at least two scores of the family are trained."""
    tasks = [LABORATORY[name] for name in TASKS if len(entries(LABORATORY[name])) > 1]
    return url_state.segments("Task", tasks, "third-order-task", show=lambda task: task.LABEL)


def models(task: LaboratoryTask) -> list[Entry]:
    """At most MOST of the task's models, in the URL."""
    by_label = {score(entry).label: entry for entry in entries(task)}
    first = [label for label, entry in by_label.items() if score(entry).name in FIRST]
    key = f"{task.NAME}-scores"
    url_state.forget(key)
    labels = st.pills("Scores", list(by_label), selection_mode="multi", default=first, key=key, bind="query-params")
    return [by_label[label] for label in by_label if label in labels][:MOST]


def cell(row: Example, weights: np.ndarray) -> tuple[int, int]:
    """The key and the context token whose cell is written out; at first the strongest of the true cells, or of all,
    and again when the row changes."""
    i, j = max(row.truth or list(product(*map(range, weights.shape))), key=lambda place: weights[place])
    if st.session_state.get(ROW, row) != row:
        for name in CELL:
            st.session_state.pop(name, None)
            st.query_params.pop(name, None)
    st.session_state[ROW] = row
    names = [_numbered(tokens) for tokens in (row.keys, row.context)]
    with st.container(horizontal=True, vertical_alignment="bottom", key="cell"):
        key = url_state.pick("Key of the cell", names[0], CELL[0], int(i), width=240)
        context = url_state.pick("Context of the cell", names[1], CELL[1], int(j), width=240)
    return names[0].index(key), names[1].index(context)


def _numbered(tokens: Sequence[str]) -> list[str]:
    """The tokens; a repeated one with its place."""
    return [f"{token}, {i}" if tokens.count(token) > 1 else token for i, token in enumerate(tokens, 1)]
