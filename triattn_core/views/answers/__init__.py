"""What goes in and what a model says, for tasks that choose among texts."""

from triattn_core.views.answers.figure import (
    CHAT,
    PASSAGE,
    ChoiceExample,
    figure,
)

__all__ = [
    "ChoiceExample",
    "CHAT",
    "PASSAGE",
    "figure",
]
