"""What the pages Context, Intervene and Attribute share: what goes in, which checkpoint is asked, and its answers, kept
for everybody who asks the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common import answers, given, inputs, languages, models, state, style, tasks
from pages.common.errors import shown
from triattn_core import records
from triattn_core.device import choose, memory_guard
from triattn_core.shelf import Card
from triattn_core.trace import Choice

if TYPE_CHECKING:
    from triattn_core.checkpoint import Bundle

MEAN = Choice("layer.0/a_over_b/weight", reduce=(("head", "mean"),))


@dataclass(frozen=True)
class Question:
    """An example put to a checkpoint; `option`: of a task that chooses among texts, the one that is looked at.

    settings: the row of pickers, for the page to go on with.
    """

    task: str
    words: tasks.Words
    card: Card
    example: Any
    option: int | None
    found: models.Explained
    settings: DeltaGenerator

    @property
    def language(self) -> str:
        return records.language(self.card)

    @property
    def names(self) -> dict[str, str]:
        """What plays query and key, as the page's directions say: "A", "candidate"."""
        return dict(zip(("query", "key"), next(iter(self.words.directions)).split(" over ")))


def opening(title: str, lead: str, mechanisms: Sequence[str]) -> Question:
    """Heading, texts, what the model says, and the picker of the checkpoint; the page ends where there is none."""
    head, beside = style.opening()
    with beside:
        task = tasks.picker(mechanisms, "checkpoint")
        given.controls(task)
    style.say(head, title, lead)
    tasks.missing(mechanisms)
    speaks, cards = languages.single(models.shelf(task, mechanisms), "checkpoint", prefer="en")
    pairs = task == "pairs"
    example = inputs.pair(speaks) if pairs else given.example(task)
    if not cards:
        st.info("No checkpoint that can be asked is here yet: see Checkpoints for what is on the shelf.")
        st.stop()
    says = st.container()
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    first = next((i for i, card in enumerate(cards) if records.model(card, "mechanism") == "tri"), 0)
    with settings:
        card = state.pick("Checkpoint", cards, "checkpoint", first, show=lambda card: card.name, width=190)
    with shown():
        found = models.explain(card, example, None if pairs else given.now(task).option)
    with says:
        if pairs:
            inputs.prediction(found)
        else:
            answers.block(example, {card.name: found}, MEAN)
    option = None if pairs else found.prediction.option
    return Question(task, tasks.TASKS[task], card, example, option, found, settings)


def answer(card: Card, says: str, then: Callable[[Bundle], Any], *key: Any) -> Any:
    """What `then` makes of the card's model, from memory where the same `key` was asked before.  Raises TriattnError.

    says: what is being done.  Shared by all sessions: never write to it.
    """
    with st.spinner(says):
        return _answer(repr((card.name, card.digest, choose(), *key)), card, then)


@st.cache_resource(max_entries=96, show_spinner=False)
def _answer(key: str, _card: Card, _then: Callable[[Bundle], Any]) -> Any:
    bundle = models.load(_card)
    with models.lock(bundle.device), memory_guard("these texts"):
        return _then(bundle)


def theme() -> str:
    """The theme that this browser shows."""
    return "dark" if style.dark() else "light"
