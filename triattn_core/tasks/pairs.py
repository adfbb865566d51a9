"""Sentence pairs: do two sentences mean the same?  Query and key are the sentences, context is both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from triattn_core.errors import InputError
from triattn_core.tasks import classes
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits, Part, Roles, encode_groups, joint, segment_ids, tokens_notes
from triattn_core.text.rows import read_json_lines
from triattn_core.text.tokenizer import Tokenizer

NAME, LABEL, FORM = "pairs", "Sentence pairs", InputForm.PAIR
KINDS = ("tan", "coin")
LABELS = ("not a paraphrase", "paraphrase")
OUTPUTS = len(LABELS)
LANGUAGES = ("en", "zh")  # that have examples: a file each

# From Penn-Treebank spacing, as in the BiMPM copy of Quora's dev and test sets, back to natural text.
_TREEBANK = (
    (re.compile(r"``\s*"), '"'),
    (re.compile(r"\s*''"), '"'),
    (re.compile(r"\s+(n't|'s|'re|'ve|'ll|'d|'m)\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\s+([?.!,;:%)\]])"), r"\1"),
    (re.compile(r"([(\[$])\s+"), r"\1"),
)


@dataclass(frozen=True)
class Example:
    """Two sentences; `label` is an index into LABELS, or None if unlabelled."""

    text_a: str
    text_b: str
    label: int | None = None
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """An example from a row `{"text_a", "text_b", "label"?, "id"?}`. Raises DataError that names the field."""
        return cls(*classes.pair_fields(row, where, LABELS))

    def check(self) -> None:
        """Raises InputError if a sentence has no visible character."""
        classes.check({"Sentence A": self.text_a, "Sentence B": self.text_b})


def natural(text: str) -> str:
    """Text without Penn-Treebank spacing: `Why ca n't I ?` becomes `Why can't I?`."""
    for pattern, replacement in _TREEBANK:
        text = pattern.sub(replacement, text)
    return text


def read(path: Path, training: bool = False) -> Iterator[Example]:
    """The examples of a JSON Lines file. Raises DataError with file and line.

    `training` skips rows marked `in_eval` (the pair is also in dev or test) or `dup` (it occurred before).
    """
    for where, row in read_json_lines(path):
        if not (training and (row.get("in_eval") or row.get("dup"))):
            yield from_file(row, where)


def from_file(row: dict, where: str) -> Example:
    """The example of a data set row, with Treebank spacing removed.  Raises DataError that names the field."""
    example = Example.from_row(row, where)
    return replace(example, text_a=natural(example.text_a), text_b=natural(example.text_b))


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Roles]]:
    """Sentence A as query, B as key, `[CLS] A [SEP] B [SEP]` as context; at most `limits.tokens` a sentence.

    If sentences are encoded separately, the context is `[CLS] A [SEP] [CLS] B [SEP]`.

    Raises InputError if a sentence has no token.
    """
    left = tokenizer.encode([example.text_a for example in batch], limits.tokens)
    right = tokenizer.encode([example.text_b for example in batch], limits.tokens)
    rows = []
    for example, a, b in zip(batch, left, right):
        notes: list[str] = []
        for name, text, tokens in (("A", example.text_a, a), ("B", example.text_b, b)):
            if not tokens:
                raise InputError(f"Sentence {name} has no character that the model can read: type at least one word.")
            notes += tokens_notes(f"Sentence {name}", text, tokens, tokenizer)
        types_a, types_b = segment_ids(a.ids, b.ids, tokenizer)
        parts = (
            Part("a", example.text_a, a, "sentence A", 0, types_a),
            Part("b", example.text_b, b, "sentence B", 1, types_b),
        )
        context = encode_groups([[part] for part in parts], tokenizer) if limits.apart else joint(parts, tokenizer)
        rows.append((Roles(context.take("a"), context.take("b"), context, tuple(notes)),))
    return rows


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """The paper's example and pairs written for this project, the hard ones last; English ones for languages without
    their own.

    `id` is the kind and a number: `negation-2`.
    """
    name = language if language in LANGUAGES else LANGUAGES[0]
    files = (Path(__file__).with_name(f"{stem}.{name}.jsonl") for stem in (NAME, f"{NAME}-hard"))
    return tuple(example for file in files if file.is_file() for example in read(file))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by name."""
    return {"a": example.text_a, "b": example.text_b}


def labels(example: Example) -> tuple[str, ...]:
    """Names of the probabilities."""
    return LABELS


def verdict(example: Example, probabilities: Sequence[float]) -> tuple[bool, int | None, int]:
    """(right, label, answer)."""
    answer = max(range(len(LABELS)), key=probabilities.__getitem__)
    return answer == example.label, example.label, answer


def metrics(verdicts: Sequence[tuple[bool, int, int]]) -> dict[str, float]:
    """Accuracy, and F1 of the label 1, each in per cent."""
    hits = sum(gold == answer == 1 for _, gold, answer in verdicts)
    positive = sum(gold + answer for _, gold, answer in verdicts)
    return {
        "accuracy": round(100 * sum(right for right, *_ in verdicts) / len(verdicts), 2),
        "f1": round(100 * 2 * hits / positive, 2) if positive else 0.0,
    }


baseline = classes.baseline


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    return {"text_a": example.text_a, "text_b": example.text_b, "label": example.label}
