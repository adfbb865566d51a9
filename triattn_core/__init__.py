"""See attention with context: the library behind the app and the command line.

    >>> from triattn_core import draw, trace_of
    >>> weights = [[[0.5, 0.25], [0.25, 0.0]], [[0.25, 0.25], [0.25, 0.25]]]
    >>> draw("cube", trace_of(weights, axes=("query", "key", "context"), tokens=["red", "car"]))
    RenderedView('cube', 'array', {'cell': (0, 0, 0), 'site': 'attention/weight'})

Each name is loaded on first use: the trace zone needs neither torch nor a drawing library.  What is counted from 1 and
what from 0 says `triattn_core.library`.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
# Type checkers and editors read `__init__.pyi`.
_PUBLIC = {
    "AttentionTrace": "trace",
    "Choice": "trace",
    "Prediction": "inference.predictions",
    "RenderedView": "case_card",
    "attribute": "library",
    "checkpoints": "library",
    "draw": "case_card",
    "evaluate": "library",
    "example": "library",
    "explain": "library",
    "intervene": "library",
    "load": "library",
    "notes_of": "trace.from_array",
    "open_file": "importers.open_file",
    "open_source": "sources",
    "record": "recording.tape",
    "replace": "recording.replace",
    "trace_of": "trace.from_array",
    "widget": "cube_widget",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("triattn_core.trace.trace").draw_with(_draw_html)
    return getattr(import_module(f"triattn_core.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def _draw_html(trace: Any) -> str:
    return import_module("triattn_core.library").html_of(trace)
