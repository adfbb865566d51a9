"""Imports of what models need, begun when the server starts: the first visitor waits for what is left of it."""

from __future__ import annotations

import importlib
from contextlib import suppress
from threading import Event, Thread

from triattn_core.inference import memory
from triattn_core.inference.jobs import give_way

NEEDED = (  # by every page with a model
    "triattn_core.checkpoint.bundle",
    "transformers.models.bert.modeling_bert",
    "triattn_core.inference.explain",
)
MORE = (
    "altair",
    "plotly.graph_objects",
    "triattn_core.analysis.attribution.faithfulness",
    "triattn_core.analysis.intervention.interventions",
)

_ready = Event()
_ready.set()


def start() -> None:
    """Begins, in a thread that gives way to those that draw pages."""
    _ready.clear()
    Thread(target=_run, name="preload", daemon=True).start()


def wait() -> None:
    """Until what is needed is there, where that was begun: two threads that import one circle of modules can fail."""
    _ready.wait()


def _run() -> None:
    give_way()
    try:
        _import(NEEDED)
    finally:
        _ready.set()
    _import(MORE)
    memory.freeze_modules()


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        with suppress(ImportError):  # who needs it says what is amiss
            importlib.import_module(name)
