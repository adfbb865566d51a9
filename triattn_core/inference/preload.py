"""Imports of what models need, begun when the server starts: the first visitor waits for what is left of it.

A page that has not called `wait` imports beside this thread.  Python makes a thread wait for a module that another one
imports, but not for the package around it: whoever asks for `scipy.spatial.distance` while this thread is within
`scipy.spatial` begins the inner module, which the outer one then finds half done, and one of the two fails with an
ImportError.  So a page asks for such a package as a whole first, and the pages' own imports have no SciPy at all.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from threading import Event, Thread

from triattn_core.inference import memory
from triattn_core.inference.jobs import give_way

FIRST = (  # by every page
    "triattn_core.scenes.links",
    "triattn_core.results.laboratory",
)
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

PAUSE = 3  # seconds in which the first page can be drawn alone: it needs no model

_ready, _wanted = Event(), Event()
_ready.set()


def start() -> None:
    """Imports what every page needs, and begins the rest in a thread that gives way to those that draw pages."""
    _import(FIRST)
    _ready.clear()
    _wanted.clear()
    Thread(target=_run, name="preload", daemon=True).start()


def wait() -> None:
    """Until what is needed is there, where that was begun: two threads that import one circle of modules can fail."""
    _wanted.set()
    _ready.wait()


def _run() -> None:
    _wanted.wait(PAUSE)
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
