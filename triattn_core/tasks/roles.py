"""Semantic roles: which words of a sentence are which argument of a given predicate (PropBank; Palmer et al. 2005).

The names of the roles are in the checkpoint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from triattn_core.errors import DataError, InputError
from triattn_core.tasks.task import InputForm
from triattn_core.text.bio_tags import OUTSIDE, breaks_bio, chunks
from triattn_core.text.roles import Limits
from triattn_core.text.row_fields import field, number, texts_field
from triattn_core.text.rows import read_examples
from triattn_core.text.texts import Texts
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.text.word_texts import split_words, word_role

NAME, LABEL, FORM = "roles", "Semantic roles", InputForm.WORDS
KINDS = ("tagger",)
TEXTS = {"text": "The sentence"}
OUTPUTS = None  # a tag per label in the checkpoint's config
LANGUAGES = ("en",)
SCORE = "f1"
PREDICATE, CONTINUED = "V", "C-"  # the label of the predicate itself; the prefix of an argument's further parts
VERB = "verb"  # part of speech of a row's predicate
MOST = 100_000  # words

Argument = tuple[str, tuple[tuple[int, int], ...]]  # label, (start, end) of each part


@dataclass(frozen=True)
class Example:
    """A sentence of words and its predicate, an index; `label`: the BIO tag of each word, None if unknown.

    pos: part of speech of the predicate, empty if unknown.
    """

    words: tuple[str, ...]
    predicate: int
    label: tuple[str, ...] | None = None
    pos: str = ""
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"tokens", "predicate", "tags"?, "pos"?, "id"?}`, or with a `text` that is split into words instead of
        `tokens`.  Raises DataError that names the field."""
        if "tokens" not in row and "text" in row:
            text = field(row, "text", where)
            words = tuple(text[start:end] for start, end in split_words(text))
        else:
            words = texts_field(row, "tokens", where)
        predicate = number(row, "predicate", where, max(1, len(words)))
        if predicate is None:
            raise DataError(f"{where}: field 'predicate' must be the index of a word, from 0")
        tags = texts_field(row, "tags", where) if row.get("tags") is not None else None
        if tags is not None and len(tags) != len(words):
            raise DataError(f"{where}: field 'tags' must have one tag per word, got {len(tags)} for {len(words)}")
        if tags is not None and (wrong := breaks_bio(tags)) is not None:
            raise DataError(f"{where}: field 'tags': {tags[wrong]!r:.40} at {wrong} is no O, B-X, or I-X after its B-X")
        return cls(words, predicate, tags, str(row.get("pos", "")), str(row.get("id", "")))

    def check(self) -> None:
        """Raises InputError if there is no word, an empty one, punctuation alone, or no predicate among them."""
        if not self.words:
            raise InputError("The sentence is empty: type at least one word.")
        if not has_word(self.words):
            raise InputError("The sentence has no word: there is nothing that could have a role.")
        if not all(word.strip() for word in self.words):
            raise InputError("The sentence has an empty word: leave it out.")
        if not 0 <= self.predicate < len(self.words):
            raise InputError(f"The sentence has no word {self.predicate + 1}: choose its predicate, a verb say.")


def has_word(words: Sequence[str]) -> bool:
    """Whether one of them has a letter or a digit."""
    return any(map(str.isalnum, "".join(words)))


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file; `training` skips rows marked `dup` or `in_eval`.  Raises DataError with the
    line.  where: keep only rows whose fields have these values."""
    if training:
        where = {**(where or {}), "in_eval": ""}
    return read_examples(path, from_file, training, where)


def from_file(row: dict, where: str) -> Example:
    """The example of a data set row.  Raises DataError that names the field."""
    return Example.from_row(row, where)


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts]]:
    """The words of each sentence as cells; those of the predicate have segment id 1.

    Raises InputError if a sentence has more than `limits.tokens` words.
    """
    texts_of_batch = []
    for example in batch:
        if len(example.words) > limits.tokens:
            raise InputError(
                f"The sentence has {len(example.words):,} words, and the model reads at most {limits.tokens}: "
                "shorten it."
            )
        spans = word_spans(example)
        role = word_role("text", texts(example)["text"], spans, tokenizer, example.predicate)
        texts_of_batch.append((Texts({"text": role}),))
    return texts_of_batch


def word_spans(example: Example) -> list[tuple[int, int]]:
    """The character span of each word in the example's text."""
    spans, start = [], 0
    for word in example.words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return spans


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The words, with a space between them."""
    return {"text": " ".join(example.words)}


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Sentences written for this project, without tags; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("roles.en.jsonl")))


def labels(example: Example) -> tuple[str, ...]:
    """Empty: labels depend on the checkpoint, see `Bundle.labels`."""
    return ()


def arguments(tags: Sequence[str]) -> set[Argument]:
    """The arguments of a proposition without its predicate, as CoNLL-2005 counts them (Carreras and Màrquez 2005).

    C-X continues the last X before it: both are one argument with two parts.  Without an X before it, it is an X.
    """
    parts: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, list[tuple[int, int]]] = {}
    for label, start, end in chunks(tags):
        name = label.removeprefix(CONTINUED)
        if label != name and name in latest:
            latest[name].append((start, end))
            continue
        latest[name] = [(start, end)]
        parts.append((name, latest[name]))
    return {(name, tuple(spans)) for name, spans in parts if name != PREDICATE}


Verdict = tuple[bool, int, int, int, bool]


def verdict(example: Example, answer: Sequence[Any]) -> Verdict:
    """As `compare`; answer: a `predictions.Tag` for each word."""
    return compare(example, [tag.tag for tag in answer])


def compare(example: Example, tags: Sequence[str]) -> Verdict:
    """(complete, correct, predicted, gold, verbal): whether all arguments are right, their numbers, and whether the
    predicate is a verb.  Raises DataError for a row without tags."""
    if example.label is None:
        raise DataError("a row has no tags: only labelled rows can be scored")
    gold, predicted = arguments(example.label), arguments(tags)
    return gold == predicted, len(gold & predicted), len(predicted), len(gold), example.pos in (VERB, "")


def metrics(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Labelled precision, recall and F1 of arguments, and the share of propositions without an error, in per cent;
    F1 also of verbs alone, the predicates of CoNLL-2005."""
    scores = {"f1": 0.0, **_precision_recall(verdicts)}
    verbs = [row for row in verdicts if row[-1]]
    scores["f1"] = _f1(verdicts)
    scores["complete"] = 100 * sum(row[0] for row in verdicts) / len(verdicts)
    if verbs:
        scores["f1_verbs"] = _f1(verbs)
    return {name: round(score, 2) for name, score in scores.items()}


def _precision_recall(verdicts: Sequence[Verdict]) -> dict[str, float]:
    correct, predicted, gold = (sum(column) for column in zip(*map(counts, verdicts)))
    return {"precision": 100 * correct / max(1, predicted), "recall": 100 * correct / max(1, gold)}


def _f1(verdicts: Sequence[Verdict]) -> float:
    return score([sum(column) for column in zip(*map(counts, verdicts))] or (0, 0, 0))


def counts(verdict: Verdict) -> tuple[int, int, int]:
    """Correct, predicted and gold arguments."""
    return verdict[1:4]


def score(sums: Sequence[float]) -> float:
    """F1 of labelled arguments, in per cent, from sums of `counts`."""
    correct, predicted, gold = sums
    return 200 * correct / max(1, predicted + gold)


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """`majority`: F1, in per cent, where the word before the predicate is its most frequent role, and nothing else."""
    seen = [example for example in examples if example.label is not None]
    before = Counter(
        example.label[example.predicate - 1].partition("-")[2]
        for example in seen
        if example.label and example.predicate
    )
    before.pop("", None)
    role = before.most_common(1)[0][0] if before else PREDICATE
    return {"majority": round(_f1([compare(example, _one_role(example, role)) for example in seen]), 2)}


def _one_role(example: Example, role: str) -> list[str]:
    tags = [OUTSIDE] * len(example.words)
    tags[max(0, example.predicate - 1)] = f"B-{role}"
    return tags


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    tags = {} if example.label is None else {"tags": list(example.label)}
    return {"tokens": list(example.words), "predicate": example.predicate, **tags, "pos": example.pos}
