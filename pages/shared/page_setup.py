"""What the cube, Context, Intervene and Attribute share: what goes in, which checkpoint is asked, and its answers, kept
for everybody who asks the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import (
    choice_input,
    languages,
    models,
    option_panel,
    pair_input,
    session_models,
    study_strip,
    style,
    task_picker,
    url_state,
)
from pages.shared.errors import report_errors
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import runner
from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.trace import Choice

MEAN = Choice("layer.0/a_over_b/weight", reduce=(("head", "mean"),))


@dataclass(frozen=True)
class Opened:
    """The top of a page: the example and the checkpoint.

    head, toolbar: the places of the heading and of the controls beside it.  answer_place: of the prediction.  settings:
    the row of pickers.
    """

    task: str
    words: task_picker.TaskLabels
    entry: Entry
    example: Any
    head: DeltaGenerator
    toolbar: DeltaGenerator
    answer_place: DeltaGenerator
    settings: DeltaGenerator

    @property
    def pairs(self) -> bool:
        return form(self.task) is InputForm.PAIR

    @property
    def option(self) -> int | None:
        """Of a task that chooses among texts the one that is asked about."""
        return None if self.pairs else choice_input.current_input(self.task).option

    def say(self, explanation: models.Explanation, choice: Choice) -> None:
        """Shows the prediction in its place."""
        with self.answer_place:
            if self.pairs:
                pair_input.prediction(explanation)
            else:
                option_panel.show_options(self.example, {self.entry.name: explanation}, choice)


@dataclass(frozen=True)
class PageQuestion(runner.Question):
    """A question as a page puts it.  settings: the row of pickers, for the page to go on with."""

    task: str
    words: task_picker.TaskLabels
    settings: DeltaGenerator

    @property
    def language(self) -> str:
        return metadata.language(self.entry)


def open_page(title: str, lead: Callable[[task_picker.TaskLabels], str], mechanisms: Sequence[str]) -> Opened:
    """Shows heading, texts, and the checkpoint picker; stops the page without a checkpoint."""
    head, toolbar = style.opening()
    with toolbar:
        task = task_picker.picker(mechanisms, "checkpoint")
        choice_input.controls(task)
    words = task_picker.TASKS[task]
    style.say(head, title, lead(words))
    task_picker.missing(mechanisms)
    speaks, entries = languages.single(models.entries(task, mechanisms), "checkpoint", prefer="en")
    example = pair_input.pair(speaks, TASKS[task]) if form(task) is InputForm.PAIR else choice_input.example(task)
    answer_place = st.container()
    if not entries:
        st.info("No checkpoint that can be run is here yet: Checkpoints lists those available.")
        st.stop()
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    default = next((i for i, entry in enumerate(entries) if metadata.model_setting(entry, "mechanism") == "tri"), 0)
    with settings:
        entry = url_state.pick(
            "Checkpoint",
            entries,
            "checkpoint",
            default,
            show=lambda entry: entry.name,
            why=_exclusion_reason,
            width=190,
        )
    return Opened(task, words, entry, example, head, toolbar, answer_place, settings)


def _exclusion_reason(name: str) -> str:
    """Why a checkpoint is not offered, where that lies in what it is."""
    entry = next((candidate for candidate in models.entries() if candidate.name == name), None)
    return "this page does not take readers" if entry and entry.kind.finds_spans else ""


def opening(title: str, lead: str, mechanisms: Sequence[str]) -> PageQuestion:
    """The top of a page with the model's prediction and trace."""
    top = open_page(title, lambda _: lead, mechanisms)
    with report_errors():
        put = runner.Question.put(session_models.SHARED, top.entry, top.example, top.option)
    top.say(put.explanation, MEAN)
    study_strip.note_example(put.example)
    return PageQuestion(**vars(put), task=top.task, words=top.words, settings=top.settings)


def option_number(question: runner.Question) -> int | None:
    """The chosen option, from 1 as settings count; None for tasks without options."""
    return None if question.option is None else question.option + 1
