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
from triattn_core.checkpoint import metadata, registry
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference import stored_traces
from triattn_core.inference.device import Device, choose_device, describe_device, memory_guard
from triattn_core.inference.memory import freeze_modules
from triattn_core.scenes.runner import Explanation

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.checkpoint.verify import Check
    from triattn_core.trace.token_grouping import TokenGrouping

BUNDLES = 24  # models kept: all that is shipped; each is some 8 MB beside its encoder


@st.cache_resource(max_entries=BUNDLES, show_spinner=False)
def _bundle(name: str, digest: str, device: str, _entry: Entry) -> Bundle:
    from triattn_core.checkpoint import bundle

    try:
        return bundle.load(_entry.path, device)
    finally:
        freeze_modules()


def entries(task: str | None = None, mechanisms: Sequence[str] = ()) -> tuple[Entry, ...]:
    """The sound checkpoints, of one task and of some mechanisms where asked, in the order in which they are offered.

    Reads JSON alone.
    """

    def fits(entry: Entry) -> bool:
        mechanism = metadata.model_setting(entry, "mechanism")
        return (task is None or entry.config.get("task") == task) and (not mechanisms or mechanism in mechanisms)

    entries = (entry for entry in registry.list_checkpoints() if entry.problem is None and fits(entry))
    return tuple(sorted(entries, key=metadata.sort_key))


def broken_checkpoints() -> tuple[Entry, ...]:
    """The folders that cannot be used, each with its one-line `problem`."""
    return tuple(entry for entry in registry.list_checkpoints() if entry.problem is not None)


def device() -> Device:
    """The device that runs the models, and the memory left on it now. Loads torch. Raises ConfigError."""
    return describe_device()


def load(entry: Entry) -> Bundle:
    """The model of a checkpoint, from memory or disk. Raises TriattnError: damaged, unknown device, no memory."""
    device = choose_device()
    with memory_guard(f"{entry.name} on {device}"):
        return _bundle(entry.name, entry.digest, device, entry)


def verify(entry: Entry) -> tuple[datetime, list[Check]]:
    """The time and the checks of a verification, read again from disk.  Raises TriattnError."""
    from triattn_core.checkpoint.verify import verify as check

    device, started = choose_device(), datetime.now()
    key, run = ("verify", entry.name, started), lambda: check(str(entry.path), device)
    return started, model_jobs.result(device, key, f"Verifying {entry.name}", run, keep=lambda checks: None)


def explain(entry: Entry, example: Any, option: int | None = None, known_scores: Sequence | None = None) -> Explanation:
    """Prediction and trace of an example of the checkpoint's task: cached, stored with the package, or computed.

    option: the option to trace, for tasks that choose among texts; by default the predicted one.
    known_scores: of the options, or the windows, if the caller has them.
    Raises TriattnError.
    """
    example.check()
    device = choose_device()
    key = (entry.name, entry.digest, device, example)

    def run() -> Explanation:
        bundle = load(entry)
        return _run(entry, bundle, example, option, known_scores or _known_scores(key, bundle, example))

    def keep(explanation: Explanation) -> None:
        for part in {option, explanation.prediction.option}:
            model_jobs.results().put((*key, part), explanation)

    if model_jobs.results().get((*key, option)) is None and (stored := stored_traces.find(entry, example, option)):
        prediction, trace = stored
        keep(Explanation(entry, prediction, trace, (*key, prediction.option)))
    return model_jobs.result(device, (*key, option), f"Loading and running {entry.name}", run, keep)


def _known_scores(key: tuple, bundle: Bundle, example: Any) -> Sequence | None:
    """The cached scores of the options, or of the windows of a passage, from the trace of another one."""
    options, cache = (None, *range(len(bundle.task.labels(example)))), model_jobs.results()
    prediction = next(
        (explanation.prediction for option in options if (explanation := cache.get((*key, option)))), None
    )
    return prediction and getattr(prediction, "spans", prediction.probabilities)


def _run(
    entry: Entry, bundle: Bundle, example: Any, option: int | None, known_scores: Sequence | None = None
) -> Explanation:
    from triattn_core.inference.explain import explain as run

    prediction, trace = run(bundle, example, option=option, known_scores=known_scores)
    return Explanation(entry, prediction, trace, (entry.name, entry.digest, bundle.device, example, prediction.option))


def answer(entry: Entry, title: str, then: Callable[[Bundle], Any], *arguments: Any) -> Any:
    """The result of `then` on the model, cached by function and `arguments`.
    Raises TriattnError.

    title: of the job.  Shared by all sessions: never write to it.
    """
    device, function = choose_device(), (then.__module__, then.__qualname__)
    key = ("answer", repr((*function, entry.name, entry.digest, device, *arguments)))
    return model_jobs.result(device, key, title, lambda: then(load(entry)))


def read(explanation: Explanation, reading: TokenGrouping, site: str = "") -> Explanation:
    """The same with its tokens grouped: see `TokenGrouping.trace`."""
    if not reading.sinks and not reading.folds:
        return explanation
    key = (*explanation.source, reading, site if reading.sinks else "")
    cached = model_jobs.results().get(key)
    if cached is None:
        cached = replace(explanation, trace=reading.trace(explanation.trace, site), source=key)
        model_jobs.results().put(key, cached)
    return cached
