"""Functions shared by classification tasks: classes of a sentence, or of a premise and a hypothesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from triattn_core.errors import DataError, InputError
from triattn_core.text.row_fields import field, number, unnested

FIRST, SECOND = ("sentence1", "premise", "question1"), ("sentence2", "hypothesis", "question2")  # owners' names
LABELS = ("label", "gold_label", "is_duplicate")  # what owners call the field of the label
NO_GOLD = "-"  # of SNLI: its annotators did not agree


def label_field(row: Mapping[str, Any]) -> str:
    """Which field of a row holds its label; `label` where none does."""
    return next((name for name in LABELS if name in row), LABELS[0])


def known_label(row: Mapping[str, Any]) -> Any:
    """The label of a row, as 0 or 1 where `is_duplicate` says true or false."""
    name = label_field(row)
    value = row.get(name)
    if name != "is_duplicate" or not isinstance(value, bool | str):
        return value
    return {"true": 1, "false": 0}.get(str(value).lower(), value)


def pair_fields(row: dict, where: str, labels: Sequence[str]) -> tuple[str, str, int | None, str]:
    """Both texts, the label and the id of a row `{"text_a", "text_b", "label"?, "id"?}`, or as owners of data sets name
    them: `sentence1`, `premise` or `question1` with `gold_label` or `is_duplicate`; a label may be its name.  Raises
    DataError that names the field."""
    row = unnested(row)
    texts = field(row, "text_a", where, *FIRST), field(row, "text_b", where, *SECOND)
    name = label_field(row)
    label = row[name] = known_label(row)
    if isinstance(label, str) and label.lower() in labels:
        return *texts, labels.index(label.lower()), str(row.get("id", ""))
    row = {**row, name: None} if label == NO_GOLD else row
    return *texts, number(row, name, where, len(labels)), str(row.get("id", ""))


def check(texts: Mapping[str, str]) -> None:
    """Raises InputError if a text has no visible character; `texts` by their titles."""
    for title, text in texts.items():
        if not text.strip():
            raise InputError(f"{title} is empty: type at least one word.")


def verdict(example: Any, probabilities: Sequence[float]) -> tuple[bool, int, int]:
    """(right, label, answer): whether the answer to a labelled example is right.

    Raises DataError for a class the model does not have, and where none is given.
    """
    label = example.label
    if label is None:
        raise DataError("a row has no label: only labelled rows can be scored")
    if label >= len(probabilities):
        raise DataError(
            f"a row has label {label}, but this checkpoint knows classes 0 to {len(probabilities) - 1}: "
            "measure it on the set it was trained for"
        )
    answer = max(range(len(probabilities)), key=probabilities.__getitem__)
    return answer == label, label, answer


def metrics(verdicts: Sequence[tuple[bool, int, int]]) -> dict[str, float]:
    """Accuracy in per cent."""
    return {"accuracy": round(100 * sum(right for right, *_ in verdicts) / len(verdicts), 2)}


def baseline(examples: Iterable[Any]) -> dict[str, float]:
    """`majority`: the accuracy, in per cent, of always predicting the largest class."""
    counts = Counter(example.label for example in examples)
    return {"majority": round(100 * max(counts.values()) / counts.total(), 2)}
