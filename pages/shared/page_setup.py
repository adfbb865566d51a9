"""What the cube, Context, Intervene and Attribute share: what goes in, which checkpoint is asked, and its answers, kept
for everybody who asks the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import (
    choice_input,
    languages,
    models,
    option_panel,
    pair_input,
    study_strip,
    style,
    task_picker,
    url_state,
)
from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources import open_source
from triattn_core.sources.explanation import Explanation
from triattn_core.sources.models import Question
from triattn_core.sources.source import Ability, lacks
from triattn_core.tasks import TASKS, InputForm, form, sentences
from triattn_core.trace import Choice
from triattn_core.trace.site import Site

MEAN = Choice(Site(layer=0, role="a_over_b", quantity="weight"), reduce=(("head", "mean"),))


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

    def say(self, explanation: Explanation, choice: Choice) -> None:
        """Shows the prediction in its place."""
        with self.answer_place:
            if self.pairs:
                pair_input.prediction(explanation)
            else:
                option_panel.show_options(self.example, {self.entry.name: explanation}, choice)


@dataclass(frozen=True)
class PageQuestion(Question):
    """A question as a page puts it.  settings: the row of pickers, for the page to go on with; below: what follows."""

    task: str
    words: task_picker.TaskLabels
    settings: DeltaGenerator
    below: DeltaGenerator

    @property
    def language(self) -> str:
        return metadata.language(self.entry)


def open_page(
    title: str,
    lead: Callable[[task_picker.TaskLabels], str],
    mechanisms: Sequence[str],
    axes: Sequence[str] = (),
    abilities: Sequence[Ability] = (),
    others: bool = False,
) -> Opened:
    """Shows heading, texts, and the checkpoint picker; stops the page without a checkpoint.

    axes, abilities: what the page needs of a source, said of one in a link that lacks it.  others: whether models of
    Hugging Face that have these are offered too, where the task is about two texts; one of them may be given one text.
    """
    head, toolbar = style.opening()
    with toolbar:
        task = task_picker.picker(mechanisms, "checkpoint")
        choice_input.controls(task)
    words = task_picker.TASKS[task]
    style.say(head, title, lead(words))
    task_picker.missing(mechanisms)
    speaks, entries = languages.single(models.entries(task, mechanisms), "checkpoint", prefer="en")
    example = pair_input.pair(speaks, TASKS[task]) if form(task) is InputForm.PAIR else choice_input.example(task)
    if others and form(task) is InputForm.PAIR:  # of any language
        entries += [entry for entry in models.transformers() if not lacks(open_source(entry), axes, abilities)]
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
            why=partial(_exclusion_reason, axes=axes, abilities=abilities),
            width=190,
        )
    if is_other(entry) and not example.text_b.strip():
        example = sentences.Example(example.text_a)
    return Opened(task, words, entry, example, head, toolbar, answer_place, settings)


def is_other(entry: Entry) -> bool:
    """Whether it is no checkpoint of ours."""
    return "source" in entry.config


def _exclusion_reason(name: str, axes: Sequence[str], abilities: Sequence[Ability]) -> str:
    """Why a checkpoint or model is not offered, where that lies in what it is."""
    entry = next((entry for entry in (*models.entries(), *models.transformers()) if entry.name == name), None)
    return lacks(open_source(entry), axes, abilities) if entry else ""


def opening(
    title: str,
    lead: str,
    mechanisms: Sequence[str],
    axes: Sequence[str] = (),
    abilities: Sequence[Ability] = (),
    others: bool = False,
) -> PageQuestion:
    """The top of a page with the model's prediction and trace; see `open_page`."""
    top = open_page(title, lambda _: lead, mechanisms, axes, abilities, others)
    with report_errors():
        put = Question.put(MODELS, top.entry, top.example, top.option)
    top.say(put.explanation, MEAN)
    study_strip.note_example(put.example)
    return PageQuestion(**vars(put), task=top.task, words=top.words, settings=top.settings, below=st.container())


def option_number(question: Question) -> int | None:
    """The chosen option, from 1 as settings count; None for tasks without options."""
    return None if question.option is None else question.option + 1
