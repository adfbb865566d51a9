"""A task as somebody adds it: one file, which takes from the pairs what it does not change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triattn_core.tasks import pairs
from triattn_core.tasks.pairs import baseline, metrics, roles, row, texts, verdict
from triattn_core.tasks.task import InputForm
from triattn_core.text.rows import read_json_lines

__all__ = ["baseline", "metrics", "roles", "row", "texts", "verdict"]

NAME, LABEL, FORM = "headlines", "Headlines", InputForm.PAIR
KINDS = ("tan", "coin")
LABELS = ("another story", "the same story")
OUTPUTS = len(LABELS)
LANGUAGES = ("en",)


@dataclass(frozen=True)
class Example(pairs.Example):
    """Two headlines, in a class of the task's own."""


def read(path: Path, training: bool = False) -> Iterator[Example]:
    return (from_file(row, where) for where, row in read_json_lines(path))


def from_file(row: dict, where: str) -> Example:
    return Example.from_row(row, where)


def examples(language: str = "en") -> tuple[Example, ...]:
    return (
        Example("the red car is small", "a small car is red", 1, "same-1"),
        Example("who is the movie", "what is the red browser", 0, "other-1"),
        Example("watch the big movie", "play the film", 1, "same-2"),
    )


def labels(example: Example) -> tuple[str, ...]:
    return LABELS
