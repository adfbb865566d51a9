"""Natural language inference: does a premise entail a hypothesis, contradict it, or neither?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from triattn_core.tasks import classes
from triattn_core.tasks.pairs import natural
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits
from triattn_core.text.rows import read_examples
from triattn_core.text.texts import Texts, separate_texts
from triattn_core.text.tokenizer import Tokenizer

NAME, LABEL, FORM = "inference", "Inference", InputForm.SENTENCES
KINDS = ("sentence",)
TEXTS = {"premise": "The premise", "hypothesis": "The hypothesis"}  # see `sentences`
LABELS = ("entailment", "neutral", "contradiction")
OUTPUTS = len(LABELS)
LANGUAGES = ("en",)


@dataclass(frozen=True)
class Example:
    """Premise and hypothesis; `label` is an index into LABELS, or None if unlabelled."""

    premise: str
    hypothesis: str
    label: int | None = None
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"text_a", "text_b", "label"?, "id"?}`, premise first.  Raises DataError that names the field."""
        return cls(*classes.pair_fields(row, where, LABELS))

    def check(self) -> None:
        """Raises InputError if a text has no visible character."""
        classes.check({"The premise": self.premise, "The hypothesis": self.hypothesis})


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file; `training` skips rows marked `dup`.  Raises DataError with the line.

    where: only rows whose fields have these values, such as {"src": "random"}.
    """
    return read_examples(path, from_file, training, where)


def from_file(row: dict, where: str) -> Example:
    """The example of a data set row, with Treebank spacing removed.  Raises DataError that names the field."""
    example = Example.from_row(row, where)
    return replace(example, premise=natural(example.premise), hypothesis=natural(example.hypothesis))


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts]]:
    """Each text separately, at most `limits.tokens` tokens.  Raises InputError if one has no token."""
    return separate_texts(TEXTS, [texts(example) for example in batch], tokenizer, limits)


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Pairs written for this project; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("inference.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by name."""
    return {"premise": example.premise, "hypothesis": example.hypothesis}


def labels(example: Example) -> tuple[str, ...]:
    """Names of the probabilities."""
    return LABELS


verdict, metrics, baseline = classes.verdict, classes.metrics, classes.baseline


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    return {"text_a": example.premise, "text_b": example.hypothesis, "label": example.label}
