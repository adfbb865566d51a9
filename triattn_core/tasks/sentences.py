"""Sentence classification.  The names of the classes are in the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from triattn_core.tasks import classes
from triattn_core.tasks.pairs import natural
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits
from triattn_core.text.row_fields import field, number
from triattn_core.text.rows import read_examples
from triattn_core.text.texts import Texts, separate_texts
from triattn_core.text.tokenizer import Tokenizer

NAME, LABEL, FORM = "sentences", "Sentences", InputForm.SENTENCES
KINDS = ("sentence",)
TEXTS = {"text": "The sentence"}  # names of the encoded texts, with their names in notes
OUTPUTS = None  # one per label in the checkpoint's config
LANGUAGES = ("en",)
MOST = 1000  # classes

# Brackets in the Penn Treebank's spelling, as in SST.
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True)
class Example:
    """One sentence; `label` is an index into the labels of a data set, or None if unlabelled."""

    text: str
    label: int | None = None
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"text", "label"?, "id"?}`.  Raises DataError that names the field."""
        return cls(field(row, "text", where), number(row, "label", where, MOST), str(row.get("id", "")))

    def check(self) -> None:
        """Raises InputError if the sentence has no visible character."""
        classes.check({"The sentence": self.text})


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file; `training` skips rows marked `dup`.  Raises DataError with the line.

    where: keep only rows whose fields have these values.
    """
    return read_examples(path, from_file, training, where)


def from_file(row: dict, where: str) -> Example:
    """The example of a data set row, with Treebank spacing removed.  Raises DataError that names the field."""
    example = Example.from_row(row, where)
    text = " ".join(_BRACKETS.get(word, word) for word in example.text.split(" "))
    return replace(example, text=natural(text))


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts]]:
    """The sentence, at most `limits.tokens` tokens.  Raises InputError if it has no token."""
    return separate_texts(TEXTS, [texts(example) for example in batch], tokenizer, limits)


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Sentences written for this project, without labels, which differ by data set; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("sentences.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by name."""
    return {"text": example.text}


def labels(example: Example) -> tuple[str, ...]:
    """Empty: labels depend on the checkpoint, see `Bundle.labels`."""
    return ()


verdict, metrics, baseline = classes.verdict, classes.metrics, classes.baseline


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    return {"text": example.text, "label": example.label}
