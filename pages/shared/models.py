"""Loading and running models once for everybody: what is heavy is kept, bounded, and shared by all sessions.

Nothing of torch is imported before a model is asked for: the first page must not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.shared import model_jobs
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint import registry as shelves
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference.device import Device, choose_device, describe_device, memory_guard
from triattn_core.inference.memory import freeze_modules
from triattn_core.scenes.runner import Explained

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.checkpoint.verify import Check
    from triattn_core.trace.token_grouping import TokenGrouping

BUNDLES = 24  # models kept: all of the shelf; each is some 8 MB beside its encoder


@st.cache_resource(max_entries=BUNDLES, show_spinner=False)
def _bundle(name: str, digest: str, device: str, _card: Entry) -> Bundle:
    from triattn_core.checkpoint import bundle

    try:
        return bundle.load(_card.path, device)
    finally:
        freeze_modules()


def shelf(task: str | None = None, mechanisms: Sequence[str] = ()) -> tuple[Entry, ...]:
    """The sound checkpoints, of one task and of some mechanisms where asked, in the order in which they are offered.

    Reads JSON alone.
    """

    def fits(card: Entry) -> bool:
        mechanism = metadata.model_setting(card, "mechanism")
        return (task is None or card.config.get("task") == task) and (not mechanisms or mechanism in mechanisms)

    cards = (card for card in shelves.list_checkpoints() if card.problem is None and fits(card))
    return tuple(sorted(cards, key=metadata.sort_key))


def broken() -> tuple[Entry, ...]:
    """The folders that cannot be used, each with its one-line `problem`."""
    return tuple(card for card in shelves.list_checkpoints() if card.problem is not None)


def device() -> Device:
    """The device that runs the models, and the memory left on it now. Loads torch. Raises ConfigError."""
    return describe_device()


def load(card: Entry) -> Bundle:
    """The model of a card, from memory or disk. Raises TriattnError: damaged, unknown device, no memory."""
    device = choose_device()
    with memory_guard(f"{card.name} on {device}"):
        return _bundle(card.name, card.digest, device, card)


def verify(card: Entry) -> tuple[datetime, list[Check]]:
    """When, and what a verification found: read anew from disk. Raises TriattnError."""
    from triattn_core.checkpoint.verify import verify as check

    device, asked = choose_device(), datetime.now()
    key, run = ("verify", card.name, asked), lambda: check(str(card.path), device)
    return asked, model_jobs.result(device, key, f"Verifying {card.name}", run, keep=lambda checks: None)


def explain(card: Entry, example: Any, option: int | None = None, known: Sequence | None = None) -> Explained:
    """Prediction and trace of an example of the card's task, from memory where it has been asked before.

    option: of a task that chooses among texts the one that is traced; by default the one that is chosen.
    known: what the options, or the windows, were given where the caller has asked before.
    Raises TriattnError.
    """
    example.check()
    device = choose_device()
    key = (card.name, card.digest, device, example)

    def run() -> Explained:
        bundle = load(card)
        return _run(card, bundle, example, option, known or _known_scores(key, bundle, example))

    def keep(explained: Explained) -> None:
        for asked in {option, explained.prediction.option}:
            model_jobs.results().put((*key, asked), explained)

    return model_jobs.result(device, (*key, option), f"Loading and running {card.name}", run, keep)


def _known_scores(key: tuple, bundle: Bundle, example: Any) -> Sequence | None:
    """What the options, or the windows of a passage, were given when another of them was traced."""
    asked, kept = (None, *range(len(bundle.task.labels(example)))), model_jobs.results()
    prediction = next((explained.prediction for option in asked if (explained := kept.get((*key, option)))), None)
    return prediction and getattr(prediction, "spans", prediction.probabilities)


def _run(card: Entry, bundle: Bundle, example: Any, option: int | None, known: Sequence | None = None) -> Explained:
    from triattn_core.inference.explain import explain as run

    prediction, trace = run(bundle, example, option=option, known=known)
    return Explained(card, prediction, trace, (card.name, card.digest, bundle.device, example, prediction.option))


def answer(card: Entry, says: str, then: Callable[[Bundle], Any], *arguments: Any) -> Any:
    """What `then` makes of the card's model, from memory where the same function was asked with the same `arguments`.
    Raises TriattnError.

    says: what is being done.  Shared by all sessions: never write to it.
    """
    device, function = choose_device(), (then.__module__, then.__qualname__)
    key = ("answer", repr((*function, card.name, card.digest, device, *arguments)))
    return model_jobs.result(device, key, says, lambda: then(load(card)))


def read(explained: Explained, reading: TokenGrouping, site: str = "") -> Explained:
    """The same as it is read: see `Reading.trace`."""
    if not reading.sinks and not reading.folds:
        return explained
    key = (*explained.source, reading, site if reading.sinks else "")
    kept = model_jobs.results().get(key)
    if kept is None:
        kept = replace(explained, trace=reading.trace(explained.trace, site), source=key)
        model_jobs.results().put(key, kept)
    return kept
