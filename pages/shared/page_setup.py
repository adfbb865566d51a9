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
    attention_worth,
    carried_input,
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

    word: of a model that writes a text of another, which of its tokens is asked about, from 0.
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
    word: int | None = None

    @property
    def pairs(self) -> bool:
        return form(self.task) is InputForm.PAIR

    @property
    def option(self) -> int | None:
        """Of a task that chooses among texts the one that is asked about; of a written text the token."""
        return self.word if self.pairs else choice_input.current_input(self.task).option

    def say(self, explanation: Explanation, choice: Choice) -> None:
        """Shows the prediction in its place."""
        with self.answer_place:
            if self.pairs:
                pair_input.prediction(explanation)
            else:
                option_panel.show_options(self.example, {self.entry.name: explanation}, choice)


@dataclass(frozen=True)
class PageQuestion(Question):
    """A question as a page puts it.  head: the heading's place; settings: the row of pickers, for the page to go on
    with; below: what follows."""

    task: str
    words: task_picker.TaskLabels
    head: DeltaGenerator
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

    axes, abilities: what the page needs of a source, said of one in a link that lacks it.  others: whether other
    models that have these are offered too, where the task is about two texts; one of them may be given one text.
    """
    head, toolbar = style.opening()
    with toolbar:
        task = task_picker.picker(mechanisms, "checkpoint")
        choice_input.controls(task)
    words = task_picker.TASKS[task]
    style.say(head, title, lead(words))
    task_picker.missing(mechanisms)
    before = carried_input.checkpoint()
    speaks, entries = languages.single(models.entries(task, mechanisms), "checkpoint", prefer="en")
    fitting = _fitting_others(axes, abilities, before) if others and form(task) is InputForm.PAIR else []
    reads = _reads(fitting)
    pairs = form(task) is InputForm.PAIR
    example = pair_input.pair(speaks, TASKS[task], reads) if pairs else choice_input.example(task)
    entries += fitting
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
            help=attention_worth.FORMS if any(map(metadata.is_living, entries)) else None,
        )
    if is_other(entry):
        carried_input.carry_input(one=entry.name)
        example = example if example.text_b.strip() else sentences.Example(example.text_a)
    with settings:
        word = _pick_word(entry, example) if reads == "source" and is_other(entry) else None
    return Opened(task, words, entry, example, head, toolbar, answer_place, settings, word)


def _fitting_others(axes: Sequence[str], abilities: Sequence[Ability], before: str) -> list[Entry]:
    """Models of others, of any language, that have these; the picker opens on the one of the page before."""
    fitting = [entry for entry in models.others() if not lacks(open_source(entry), axes, abilities)]
    if before in {entry.name for entry in fitting}:
        carried_input.carry_input(one=before)
        carried_input.choose_one(fitting, "checkpoint")
    return fitting


def _reads(fitting: Sequence[Entry]) -> str:
    """What the model reads that is chosen below the texts; empty for one of ours."""
    chosen = st.session_state.get("checkpoint", st.query_params.get("checkpoint"))
    name = getattr(chosen, "name", chosen)
    return next((entry.config["model"].get("reads", "pair") for entry in fitting if entry.name == name), "")


def _pick_word(entry: Entry, example: Any) -> int | None:
    """Which of the tokens that it writes is asked about."""

    def write(model: Any) -> list[str]:
        from triattn_core.sources.written import written_words

        return written_words(model, example.text)

    with report_errors():
        words = MODELS.answer(entry, f"{entry.name} writes", write, example.text)
        numbers = range(len(words))
        return url_state.pick("Word that it writes", numbers, "word", show=lambda i: f"{i + 1} {words[i]}", width=190)


def is_other(entry: Entry) -> bool:
    """Whether it is no checkpoint of ours."""
    return "source" in entry.config


def _exclusion_reason(name: str, axes: Sequence[str], abilities: Sequence[Ability]) -> str:
    """Why a checkpoint or model is not offered, where that lies in what it is."""
    entry = next((entry for entry in (*models.entries(), *models.others()) if entry.name == name), None)
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
    places = {"head": top.head, "settings": top.settings, "below": st.container()}
    return PageQuestion(**vars(put), task=top.task, words=top.words, **places)


def option_number(question: Question) -> int | None:
    """The chosen option, from 1 as settings count; None for tasks without options."""
    return None if question.option is None else question.option + 1
