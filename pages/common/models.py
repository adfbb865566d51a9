"""Loading and running models once for everybody: what is heavy is kept, bounded, and shared by all sessions.

Nothing of torch is imported before a model is asked for: the first page must not wait for it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from triattn_core import records
from triattn_core import shelf as shelves
from triattn_core.case_card.explained import Explained
from triattn_core.device import Device, choose, describe, memory_guard
from triattn_core.shelf import Card

if TYPE_CHECKING:
    from triattn_core.analysis.reading import Reading
    from triattn_core.checkpoint import Bundle
    from triattn_core.verify import Check

BUNDLES = 24  # models kept: all of the shelf; each is some 8 MB beside its encoder
TRACE_BYTES = 400_000_000  # traces kept; two sentences of 20 tokens take 7 MB, of 64 tokens 200 MB


@dataclass
class Kept:
    """The explained examples, the oldest dropped first once their arrays hold more than `limit` bytes."""

    limit: int
    items: OrderedDict = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def get(self, key: tuple) -> Explained | None:
        with self.lock:
            if key in self.items:
                self.items.move_to_end(key)
                return self.items[key]
        return None

    def put(self, key: tuple, value: Explained) -> None:
        with self.lock:
            self.items[key] = value
            while len(self.items) > 1 and self.bytes() > self.limit:
                self.items.popitem(last=False)

    def bytes(self) -> int:
        """Of what is kept; what stands under two keys counts once."""
        return sum(map(size, {id(one): one for one in self.items.values()}.values()))


def size(item: Explained) -> int:
    """Bytes of the arrays of a trace."""
    return sum(array.nbytes for array in item.trace.sites.values())


@st.cache_resource
def _kept() -> Kept:
    return Kept(TRACE_BYTES)


@st.cache_resource
def lock(device: str) -> Lock:
    """One at a time on a device: two passes at once would only share its memory and its cores."""
    return Lock()


@st.cache_resource(max_entries=BUNDLES, show_spinner=False)
def _bundle(name: str, digest: str, device: str, _card: Card) -> Bundle:
    from triattn_core import checkpoint

    return checkpoint.load(_card.path, device)


def shelf(task: str | None = None, mechanisms: Sequence[str] = ()) -> tuple[Card, ...]:
    """The sound checkpoints, of one task and of some mechanisms where asked, in the order in which they are offered.

    Reads JSON alone.
    """

    def fits(card: Card) -> bool:
        mechanism = records.model(card, "mechanism")
        return (task is None or card.config.get("task") == task) and (not mechanisms or mechanism in mechanisms)

    return tuple(sorted((card for card in shelves.shelf() if card.problem is None and fits(card)), key=records.place))


def broken() -> tuple[Card, ...]:
    """The folders that cannot be used, each with its one-line `problem`."""
    return tuple(card for card in shelves.shelf() if card.problem is not None)


def device() -> Device:
    """The device that runs the models, and the memory left on it now. Loads torch. Raises ConfigError."""
    return describe()


def load(card: Card) -> Bundle:
    """The model of a card, from memory or disk. Raises TriattnError: damaged, unknown device, no memory."""
    device = choose()
    with memory_guard(f"{card.name} on {device}"):
        return _bundle(card.name, card.digest, device, card)


def verify(card: Card) -> tuple[datetime, list[Check]]:
    """When, and what a verification found: read anew from disk. Raises TriattnError."""
    from triattn_core.verify import verify as check

    device = choose()
    with lock(device), memory_guard(f"{card.name} on {device}"):
        return datetime.now(), check(str(card.path), device)


def explain(card: Card, example: Any, option: int | None = None, known: Sequence | None = None) -> Explained:
    """Prediction and trace of an example of the card's task, from memory where it has been asked before.

    option: of a task that chooses among texts the one that is traced; by default the one that is chosen.
    known: what the options, or the windows, were given where the caller has asked before.
    What takes more than a moment, which is loading, is said on the page.  Raises TriattnError.
    """
    example.check()
    with _waiting(f"Loading and running {card.name}"):
        device = choose()
        key = (card.name, card.digest, device, example)
        found = _kept().get((*key, option))
        if found is None:
            bundle = load(card)
            with lock(device):
                # Another session may have asked the same meanwhile.
                known = known or _known(key, bundle, example)
                found = _kept().get((*key, option)) or _run(card, bundle, example, option, known)
                for asked in {option, found.prediction.option}:
                    _kept().put((*key, asked), found)
    return found


def _known(key: tuple, bundle: Bundle, example: Any) -> Sequence | None:
    """What the options, or the windows of a passage, were given when another of them was traced."""
    asked = (None, *range(len(bundle.task.labels(example))))
    said = next((one.prediction for option in asked if (one := _kept().get((*key, option)))), None)
    return said and getattr(said, "spans", said.probabilities)


def _run(
    card: Card, bundle: Bundle, example: Any, option: int | None, known: Sequence | None = None
) -> Explained:
    from triattn_core.explain import explain as run

    with memory_guard("these texts"):
        said, trace = run(bundle, example, option=option, known=known)
    return Explained(card, said, trace, (card.name, card.digest, bundle.device, example, said.option))


def answer(card: Card, says: str, then: Callable[[Bundle], Any], *key: Any) -> Any:
    """What `then` makes of the card's model, from memory where the same `key` was asked before.  Raises TriattnError.

    says: what is being done.  Shared by all sessions: never write to it.
    """
    with _waiting(says):
        return _answer(repr((card.name, card.digest, choose(), *key)), card, then)


@st.cache_resource(max_entries=96, show_spinner=False)
def _answer(key: str, _card: Card, _then: Callable[[Bundle], Any]) -> Any:
    bundle = load(_card)
    with lock(bundle.device), memory_guard("these texts"):
        return _then(bundle)


def _waiting(says: str) -> AbstractContextManager:
    """Says what is waited for; a download is made in a thread of its own, where nothing can be shown."""
    return st.spinner(says) if get_script_run_ctx() else nullcontext()


def read(found: Explained, reading: Reading, site: str = "") -> Explained:
    """The same as it is read: see `Reading.trace`."""
    if not reading.sinks and not reading.folds:
        return found
    key = (*found.source, reading, site if reading.sinks else "")
    kept = _kept().get(key)
    if kept is None:
        kept = replace(found, trace=reading.trace(found.trace, site), source=key)
        _kept().put(key, kept)
    return kept
