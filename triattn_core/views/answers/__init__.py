"""What goes in and what a model says, for tasks that choose among texts."""

from triattn_core.views.answers.figure import (
    CHAT,
    PASSAGE,
    SCRIPT,
    STYLE,
    Asked,
    figure,
)

__all__ = [
    "Asked",
    "CHAT",
    "PASSAGE",
    "SCRIPT",
    "STYLE",
    "figure",
]
