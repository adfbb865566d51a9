"""See attention with context: the library behind the app and the command line.

    from triattn_core import draw, trace_of
    draw("cube", trace_of(weights, axes=("query", "key", "context"), query=tokens, key=tokens, context=tokens))

Each name is loaded on first use: the trace zone needs neither torch nor a drawing library.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from triattn_core.case_card.rendered import RenderedView
    from triattn_core.case_card.trace_card import SavedTrace
    from triattn_core.checkpoint.bundle import load
    from triattn_core.cube_widget import widget
    from triattn_core.importers.open_file import open_file
    from triattn_core.inference.evaluate import evaluate
    from triattn_core.inference.explain import explain
    from triattn_core.trace import AttentionTrace, Choice
    from triattn_core.trace.from_array import notes_of, trace_of

_PUBLIC = {
    "AttentionTrace": "triattn_core.trace",
    "Choice": "triattn_core.trace",
    "trace_of": "triattn_core.trace.from_array",
    "widget": "triattn_core.cube_widget",
    "notes_of": "triattn_core.trace.from_array",
    "open_file": "triattn_core.importers.open_file",
    "load": "triattn_core.checkpoint.bundle",
    "explain": "triattn_core.inference.explain",
    "evaluate": "triattn_core.inference.evaluate",
}
__all__ = [
    "AttentionTrace",
    "Choice",
    "draw",
    "evaluate",
    "explain",
    "load",
    "notes_of",
    "open_file",
    "trace_of",
    "widget",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


@overload
def draw(view: str, what: "AttentionTrace", **settings: Any) -> "SavedTrace": ...
@overload
def draw(view: str, what: "str | Sequence[str]", *more: Any, **settings: Any) -> "RenderedView": ...
def draw(view: str, what: Any, *more: Any, **settings: Any) -> Any:
    """A view as a notebook shows it: `draw("cube", trace)` of a trace (see `case_card.trace_card.draw_trace`), or
    `draw("cube", "quora-tri-published", example)` of an example under checkpoints (see `case_card.draw`)."""
    if isinstance(what, __getattr__("AttentionTrace")):
        return import_module("triattn_core.case_card.trace_card").draw_trace(view, what, *more, **settings)
    return import_module("triattn_core.case_card").draw(view, what, *more, **settings)
