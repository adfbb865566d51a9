"""What the cube, Context, Intervene and Attribute share: what goes in, which checkpoint is asked, and its answers, kept
for everybody who asks the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common import answers, given, inputs, languages, models, shared, state, style, tasks
from pages.common.errors import shown
from triattn_core import records
from triattn_core.case_card import explained
from triattn_core.shelf import Card
from triattn_core.trace import Choice

MEAN = Choice("layer.0/a_over_b/weight", reduce=(("head", "mean"),))


@dataclass(frozen=True)
class Opened:
    """The top of a page: the example that goes in, and the checkpoint that is asked.

    beside: the place beside the heading.  says: that of what the model says.  settings: the row of pickers.
    """

    task: str
    words: tasks.Words
    card: Card
    example: Any
    beside: DeltaGenerator
    says: DeltaGenerator
    settings: DeltaGenerator

    @property
    def pairs(self) -> bool:
        return self.task == "pairs"

    @property
    def option(self) -> int | None:
        """Of a task that chooses among texts the one that is asked about."""
        return None if self.pairs else given.now(self.task).option

    def say(self, found: models.Explained, choice: Choice) -> None:
        """What the model says, in its place."""
        with self.says:
            if self.pairs:
                inputs.prediction(found)
            else:
                answers.block(self.example, {self.card.name: found}, choice)


@dataclass(frozen=True)
class Question(explained.Question):
    """A question as a page puts it.  settings: the row of pickers, for the page to go on with."""

    task: str
    words: tasks.Words
    settings: DeltaGenerator

    @property
    def language(self) -> str:
        return records.language(self.card)


def opened(title: str, lead: Callable[[tasks.Words], str], mechanisms: Sequence[str]) -> Opened:
    """Heading, texts, and the picker of the checkpoint; the page ends where there is none."""
    head, beside = style.opening()
    with beside:
        task = tasks.picker(mechanisms, "checkpoint")
        given.controls(task)
    words = tasks.TASKS[task]
    style.say(head, title, lead(words))
    tasks.missing(mechanisms)
    speaks, cards = languages.single(models.shelf(task, mechanisms), "checkpoint", prefer="en")
    example = inputs.pair(speaks) if task == "pairs" else given.example(task)
    says = st.container()
    if not cards:
        st.info("No checkpoint that can be asked is here yet: see Checkpoints for what is on the shelf.")
        st.stop()
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    at = next((i for i, card in enumerate(cards) if records.model(card, "mechanism") == "tri"), 0)
    with settings:
        card = state.pick("Checkpoint", cards, "checkpoint", at, show=lambda card: card.name, why=_refused, width=190)
    return Opened(task, words, card, example, beside, says, settings)


def _refused(name: str) -> str:
    """Why a checkpoint of the shelf is not offered, where that lies in what it is."""
    card = next((one for one in models.shelf() if one.name == name), None)
    return "this page does not take readers" if card and card.config.get("kind") == "reader" else ""


def opening(title: str, lead: str, mechanisms: Sequence[str]) -> Question:
    """The same with the question put, and what the model says."""
    top = opened(title, lambda _: lead, mechanisms)
    with shown():
        put = explained.Question.put(shared.SHARED, top.card, top.example, top.option)
    top.say(put.found, MEAN)
    return Question(**vars(put), task=top.task, words=top.words, settings=top.settings)


def theme() -> str:
    """The theme that this browser shows."""
    return "dark" if style.dark() else "light"
