"""A task as somebody adds it: a class for each word of a text, numbers, words and signs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triattn_core.errors import DataError
from triattn_core.inference.predictions import Tag
from triattn_core.tasks import classes
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits
from triattn_core.text.row_fields import field
from triattn_core.text.rows import read_examples
from triattn_core.text.texts import Texts, separate_texts
from triattn_core.text.tokenizer import Tokenizer

NAME, LABEL, FORM = "word-classes", "Word classes", InputForm.SENTENCES
KINDS = ("labeller",)
TEXTS = {"text": "The sentence"}
TAGS = ("word", "number", "sign")
OUTPUTS = len(TAGS)  # of each token
LANGUAGES = ("en",)


@dataclass(frozen=True)
class Example:
    """A sentence; `label`: the tag of each of its words, which spaces separate, or None if unknown."""

    text: str
    label: tuple[str, ...] | None = None
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"text", "tags"?, "id"?}`.  Raises DataError that names the field."""
        text, tags = field(row, "text", where), row.get("tags")
        if tags is not None and (len(tags) != len(text.split()) or not set(tags) <= set(TAGS)):
            raise DataError(f"{where}: tags: expected one of {', '.join(TAGS)} for each word")
        return cls(text, None if tags is None else tuple(tags), str(row.get("id", "")))

    def check(self) -> None:
        """Raises InputError if the sentence has no visible character."""
        classes.check({"The sentence": self.text})

    def tag_at(self, start: int) -> str | None:
        """The tag of the word that has the character at `start`."""
        return self.label[max(0, len(self.text[: start + 1].split()) - 1)] if self.label else None


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file.  Raises DataError with the line."""
    return read_examples(path, from_file, training, where)


def from_file(row: dict, where: str) -> Example:
    """The example of a data set row.  Raises DataError that names the field."""
    return Example.from_row(row, where)


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts]]:
    """The sentence, at most `limits.tokens` tokens.  Raises InputError if it has no token."""
    return separate_texts(TEXTS, [texts(example) for example in batch], tokenizer, limits)


def examples(language: str = "en") -> tuple[Example, ...]:
    """Three sentences."""
    rows = {"play 3 films ?": "word number word sign", "the car is red .": "word word word word sign"}
    rows["watch 12 ."] = "word number sign"
    return tuple(Example(text, tuple(tags.split()), f"kind-{i}") for i, (text, tags) in enumerate(rows.items()))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by name."""
    return {"text": example.text}


def labels(example: Example) -> tuple[str, ...]:
    """The tags."""
    return TAGS


def verdict(example: Example, answer: Sequence[Tag]) -> tuple[bool, int, int]:
    """(all right, right tags, tags) of the tokens."""
    right = sum(tag.tag == example.tag_at(tag.start) for tag in answer)
    return right == len(answer), right, len(answer)


def metrics(verdicts: Sequence[tuple[bool, int, int]]) -> dict[str, float]:
    """Accuracy over tokens, and over whole sentences, in per cent."""
    whole, right, tokens = map(sum, zip(*verdicts))
    return {"accuracy": round(100 * right / tokens, 2), "sentences": round(100 * whole / len(verdicts), 2)}


def baseline(examples: Iterable[Any]) -> dict[str, float]:
    """`majority`: the share, in per cent, of the most frequent tag."""
    counts = Counter(tag for example in examples for tag in example.label)
    return {"majority": round(100 * max(counts.values()) / counts.total(), 2)}


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    return {"text": example.text} | ({"tags": list(example.label)} if example.label else {})
