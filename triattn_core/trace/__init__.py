"""The attention trace of one example and the vocabulary of its axes; without torch.

`AttentionTrace`, `Choice` and `reduce` are imported on first use, so that reading the glossary (`trace.axes`) does not
load xarray.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triattn_core.trace.trace import AttentionTrace, Choice, reduce

__all__ = ["AttentionTrace", "Choice", "reduce"]


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from triattn_core.trace import trace

    return getattr(trace, name)
