"""A task as somebody adds it: one file, which takes from the pairs what it does not change."""

from __future__ import annotations

from triattn_core.tasks.pairs import Example, baseline, from_file, metrics, read, roles, row, texts, verdict
from triattn_core.tasks.task import InputForm

__all__ = ["Example", "baseline", "from_file", "metrics", "read", "roles", "row", "texts", "verdict"]

NAME, LABEL, FORM = "headlines", "Headlines", InputForm.PAIR
LABELS = ("another story", "the same story")
OUTPUTS = len(LABELS)
LANGUAGES = ("en",)


def examples(language: str = "en") -> tuple[Example, ...]:
    return (
        Example("the red car is small", "a small car is red", 1, "same-1"),
        Example("who is the movie", "what is the red browser", 0, "other-1"),
        Example("watch the big movie", "play the film", 1, "same-2"),
    )


def labels(example: Example) -> tuple[str, ...]:
    return LABELS
