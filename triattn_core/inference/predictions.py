"""What a model says of one example: a type for each form of answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, prod
from typing import Any, NamedTuple

from triattn_core.trace.listing import listing


@dataclass(frozen=True)
class Prediction:
    """Labels with their probabilities, empty where a model gives none; `best` and `gold` are indices; `notes` are
    sentences for the user.

    option: for tasks that choose among texts, the index of the option that was traced.

    >>> prediction = Prediction(("no", "yes"), (0.25, 0.75), best=1)
    >>> prediction.labels[prediction.best]
    'yes'
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    best: int
    gold: int | None = None
    notes: tuple[str, ...] = ()
    option: int = 0

    @property
    def recorded(self) -> tuple[float, ...]:
        """The probabilities that a checkpoint records of its example, for `checkpoint.verify`."""
        return self.probabilities


class Span(NamedTuple):
    """Characters `start` to `end` of the passage; `window`: the one the span was found in."""

    start: int
    end: int
    probability: float
    window: int


@dataclass(frozen=True)
class Answer(Prediction):
    """Answer spans of a passage, best first: `labels` are their texts; `option` is the traced window of `parts`."""

    spans: tuple[Span, ...] = ()
    parts: int = 1


class Tag(NamedTuple):
    """The tag of a token or word, characters `start` to `end` of the text, and its probability."""

    start: int
    end: int
    tag: str
    probability: float


@dataclass(frozen=True)
class Tagging(Prediction):
    """A tag for each token, in the order of the text.

    `labels` is the whole sequence as one label, `the/DET film/NOUN`; its probability is the product over the tokens.
    """

    tags: tuple[Tag, ...] = ()

    @classmethod
    def of(cls, text: str, tags: Sequence[Tag], **fields: Any) -> Tagging:
        """The prediction of these tags of a text."""
        label = " ".join(f"{text[tag.start : tag.end]}/{tag.tag}" for tag in tags)
        return cls((label,), (prod(tag.probability for tag in tags),), best=0, tags=tuple(tags), **fields)

    @property
    def recorded(self) -> tuple[float, ...]:
        return tuple(tag.probability for tag in self.tags)

    @property
    def log_probability(self) -> float:
        """The natural logarithm of that product, which rounds to 0 in a long text."""
        return sum(log(tag.probability) if tag.probability else -inf for tag in self.tags)


class Candidate(NamedTuple):
    """A translation, the natural logarithm of its probability, its score (that over the length penalty), its sub-words,
    and whether it ends: one that does not stopped at the length limit."""

    text: str
    log_probability: float
    score: float
    sub_words: tuple[int, ...]
    ended: bool = True

    @property
    def probability(self) -> float:
        """Rounded to 0 where the translation is long."""
        return exp(self.log_probability)


@dataclass(frozen=True)
class Translation(Prediction):
    """Translations, best first: `labels` are their texts."""

    candidates: tuple[Candidate, ...] = ()

    @classmethod
    def of(cls, candidates: Sequence[Candidate], notes: Sequence[str] = (), **fields: Any) -> Translation:
        """The prediction of these candidates, with a note where some stopped at the length limit."""
        texts = tuple(candidate.text for candidate in candidates)
        probabilities = tuple(candidate.probability for candidate in candidates)
        notes = (*notes, *_cut_notes(candidates))
        return cls(texts, probabilities, best=0, candidates=tuple(candidates), notes=notes, **fields)


def _cut_notes(candidates: Sequence[Candidate]) -> list[str]:
    cut = [place for place, one in enumerate(candidates, 1) if not one.ended]
    if not cut:
        return []
    who = "The translation" if 1 in cut else f"Candidate{'s' * (len(cut) > 1)} {listing(list(map(str, cut)))}"
    limit = len(candidates[cut[0] - 1].sub_words)
    return [f"{who} stopped at {limit:,} tokens, the most that the model writes for this source: the end is missing."]


PARTS: dict[str, tuple[type[Prediction], type[NamedTuple]]] = {
    "spans": (Answer, Span),
    "tags": (Tagging, Tag),
    "candidates": (Translation, Candidate),
}


def read_prediction(fields: Mapping[str, Any]) -> Prediction:
    """The prediction that `vars` wrote as `fields`, whose tuples JSON has made lists."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    for name, (prediction, part) in PARTS.items():
        if name in values:
            return prediction(**values | {name: tuple(part(*value) for value in values[name])})
    return Prediction(**values)
