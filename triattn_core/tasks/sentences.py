"""Sentence classification: which class is a sentence of?  The checkpoint knows what its classes are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from triattn_core.tasks import classes
from triattn_core.tasks.pairs import natural
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits
from triattn_core.text.rows import field, number, read_json_lines, wanted
from triattn_core.text.texts import Texts, alone
from triattn_core.text.tokenizer import Tokenizer

NAME, LABEL, FORM = "sentences", "Sentences", InputForm.SENTENCES
TEXTS = {"text": "The sentence"}  # names of the texts that are encoded, and what a note calls them
OUTPUTS = None  # as many as the config of a checkpoint names labels
LANGUAGES = ("en",)
MOST = 1000  # classes

# Brackets as the Penn Treebank spells them: SST has them.
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True)
class Example:
    """One sentence; `label` is an index into the labels of a data set, None where nobody has judged it."""

    text: str
    label: int | None = None
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"text", "label"?, "id"?}`.  Raises DataError naming the field."""
        return cls(field(row, "text", where), number(row, "label", where, MOST), str(row.get("id", "")))

    def check(self) -> None:
        """Raises InputError where the sentence has no visible character."""
        classes.check({"The sentence": self.text})


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file; with `training` without rows marked `dup`.  Raises DataError with the line.

    where: only rows whose fields have these values.
    """
    for place, row in read_json_lines(path):
        if wanted(row, where or {}) and not (training and row.get("dup")):
            yield from_file(row, place)


def from_file(row: dict, where: str) -> Example:
    """The example of a row of a data set, whose text may be spaced.  Raises DataError naming the field."""
    example = Example.from_row(row, where)
    text = " ".join(_BRACKETS.get(word, word) for word in example.text.split(" "))
    return replace(example, text=natural(text))


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts]]:
    """The sentence alone, at most `limits.tokens` tokens.  Raises InputError where it has none that can be read."""
    return alone(TEXTS, [texts(example) for example in batch], tokenizer, limits)


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Sentences written for this project, without labels: each data set has its own; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("sentences.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by the names that tokens carry."""
    return {"text": example.text}


def labels(example: Example) -> tuple[str, ...]:
    """None that all checkpoints share; see `Bundle.labels`."""
    return ()


def verdict(example: Example, probabilities: Sequence[float]) -> tuple[bool, int, int]:
    """Whether the example is answered rightly, its label, and the answer."""
    return classes.verdict(example.label, probabilities)


metrics = classes.metrics


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """`majority`: the accuracy in per cent of always saying the largest class."""
    return classes.baseline(example.label for example in examples)


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    return {"text": example.text, "label": example.label}
