"""Sentence pairs: do two sentences mean the same?  Query and key are the sentences, context is both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from triattn_core.errors import DataError, InputError
from triattn_core.text.roles import Roles, joint, tokens_notes
from triattn_core.text.rows import read_json_lines
from triattn_core.text.tokenizer import Tokenizer

NAME = "pairs"
FIELDS = ("text_a", "text_b")
LABELS = ("not a paraphrase", "paraphrase")
LANGUAGES = ("en", "zh")  # that have examples: a file each

# Penn-Treebank spacing, as in the BiMPM copy of Quora's dev and test sets, back to natural text.
_TREEBANK = (
    (re.compile(r"``\s*"), '"'),
    (re.compile(r"\s*''"), '"'),
    (re.compile(r"\s+(n't|'s|'re|'ve|'ll|'d|'m)\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\s+([?.!,;:%)\]])"), r"\1"),
    (re.compile(r"([(\[$])\s+"), r"\1"),
)


@dataclass(frozen=True)
class Example:
    """Two sentences; `label` is an index into LABELS, or None where nobody has judged them."""

    text_a: str
    text_b: str
    label: int | None = None
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """An example from a row `{"text_a", "text_b", "label"?, "id"?}`. Raises DataError naming the field."""
        for field in FIELDS:
            if not isinstance(row.get(field), str):
                raise DataError(f"{where}: field {field!r} must be text, got {row.get(field)!r:.40}")
        label = row.get("label")
        if label is not None and (type(label) is not int or label not in (0, 1)):
            raise DataError(f"{where}: field 'label' must be 0 or 1, got {label!r:.40}")
        return cls(row["text_a"], row["text_b"], label, str(row.get("id", "")))

    def check(self) -> None:
        """Raises InputError where a sentence has no visible character."""
        for name, text in (("A", self.text_a), ("B", self.text_b)):
            if not text.strip():
                raise InputError(f"Sentence {name} is empty: type at least one word.")


def natural(text: str) -> str:
    """Text without Penn-Treebank spacing: `Why ca n't I ?` becomes `Why can't I?`."""
    for pattern, replacement in _TREEBANK:
        text = pattern.sub(replacement, text)
    return text


def read(path: Path, training: bool = False) -> Iterator[Example]:
    """The examples of a JSON Lines file. Raises DataError with file and line.

    With `training`, rows marked `in_eval` (the pair stands in dev or test too) or `dup` (it stood before) are left out.
    """
    for where, row in read_json_lines(path):
        if training and (row.get("in_eval") or row.get("dup")):
            continue
        example = Example.from_row(row, where)
        yield Example(natural(example.text_a), natural(example.text_b), example.label, example.id)


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limit: int) -> list[Roles]:
    """Sentence A as query, B as key, `[CLS] A [SEP] B [SEP]` as context; at most `limit` tokens a sentence.

    Raises InputError where a sentence has no token that can be read.
    """
    left = tokenizer.encode([example.text_a for example in batch], limit)
    right = tokenizer.encode([example.text_b for example in batch], limit)
    found = []
    for example, a, b in zip(batch, left, right):
        notes: list[str] = []
        for name, text, tokens in (("A", example.text_a, a), ("B", example.text_b, b)):
            if not tokens:
                raise InputError(f"Sentence {name} has no character that the model can read: type at least one word.")
            notes += tokens_notes(f"Sentence {name}", text, tokens, tokenizer)
        context = joint((("a", example.text_a, a), ("b", example.text_b, b)), tokenizer)
        found.append(Roles(context.take("a"), context.take("b"), context, tuple(notes)))
    return found


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """The paper's printed case and pairs written for this project, English ones for a language without its own.

    `id` is the kind and a number: `negation-2`.
    """
    name = language if language in LANGUAGES else LANGUAGES[0]
    return tuple(read(Path(__file__).with_name(f"pairs.{name}.jsonl")))


def texts(example: Example) -> dict[str, str]:
    """The example's texts by the names that tokens carry."""
    return {"a": example.text_a, "b": example.text_b}


def metrics(gold: Sequence[int], predicted: Sequence[int]) -> dict[str, float]:
    """Accuracy, and F1 of the label 1, each in per cent."""
    pairs = list(zip(gold, predicted, strict=True))
    hits = sum(g == p == 1 for g, p in pairs)
    positive = sum(gold) + sum(predicted)
    return {
        "accuracy": round(100 * sum(g == p for g, p in pairs) / len(pairs), 2),
        "f1": round(100 * 2 * hits / positive, 2) if positive else 0.0,
    }


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    return {"text_a": example.text_a, "text_b": example.text_b, "label": example.label}
