"""What a change of the row did: to the right answer, and to each model's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from triattn_core.tasks.laboratory import Example, LaboratoryTask
from triattn_core.trace.listing import listing

KEY = "laboratory rows"


@dataclass(frozen=True)
class AnsweredRow:
    """A row, and the answer of each model to it."""

    row: Example
    answers: Mapping[str, str]


def previous_answer(task: LaboratoryTask, now: AnsweredRow) -> AnsweredRow | None:
    """The session's previous row of this task with its answers; None if this is the first."""
    key = f"{KEY} of {task.NAME}"
    last, current = st.session_state.get(key, (None, None))
    if current is not None and current.row != now.row:
        last = current
    st.session_state[key] = last, now
    return last


def describe(before: AnsweredRow, now: AnsweredRow, task: LaboratoryTask) -> str:
    """A sentence: which models are right before and after the change, and which are not."""
    right = [None if state.row.label is None else task.LABELS[state.row.label] for state in (before, now)]
    models = [name for name in now.answers if name in before.answers]
    moves = {name: f"{name} ({before.answers[name]} → {now.answers[name]})" for name in models}
    if None in right:
        was, is_ = (_count(state.row, task) for state in (before, now))
        return f"Your change: there was {was}, and now there is {is_}. Answers: {listing(list(moves.values()))}."
    kinds = {name: (before.answers[name] == right[0], now.answers[name] == right[1]) for name in models}
    steady, late = ([moves[name] for name in models if kinds[name] == kind] for kind in ((True, True), (False, True)))
    wrong = [moves[name] for name in models if not kinds[name][1]]
    if right[0] == right[1]:
        head = f"Your change left the right answer at {right[0]}."
        verbs = ("gave it both times", "gave it now, not before", "did not")
    else:
        head = f"Your change moved the right answer from {right[0]} to {right[1]}."
        verbs = ("followed", "came to it from a wrong one", "did not")
    parts = [f"{listing(names)} {verb}" for names, verb in zip((steady, late, wrong), verbs) if names]
    return f"{head} {'; '.join(parts)}."


def _count(row: Example, task: LaboratoryTask) -> str:
    """How many right answers a row has, in words."""
    if row.label is not None:
        return f"one right answer, {task.LABELS[row.label]}"
    pairs = len(task.answer_cells(row))
    return f"no single right answer ({pairs} pairs fit)" if pairs else "no right answer"
