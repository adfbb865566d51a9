"""Functions shared by tasks that choose among texts: candidates of a dialogue, options of a question.

Such a task has WORDS, and for an example `parts` with its inverse `from_parts`, `options` and `title`: forms, lists and
pages use these and know none of the tasks by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from triattn_core.errors import DataError, InputError
from triattn_core.text.roles import Limits, Role, Roles
from triattn_core.text.tokenizer import Tokens


@dataclass(frozen=True)
class ChoiceWords:
    """The words of a task on pages and in messages.

    noun: name of an example.  axes: names of query, key and context.  sides: short names of question and answer.
    right: name of a right option.  texts, options: headings of the input and of the options.
    units: of `text_units.UNITS` that its context folds to, the default first.  chat: whether its texts are turns;
    otherwise the first is a text of sentences.
    parts: the input fields of an example, with their labels.  lists: those with one text per line; the last is the
    field of options.
    """

    noun: str
    axes: tuple[str, str, str]
    sides: tuple[str, str]
    right: str
    texts: str
    options: str
    units: tuple[str, ...]
    chat: bool
    parts: Mapping[str, str]
    lists: tuple[str, ...]


def lines(text: str) -> tuple[str, ...]:
    """The lines that are not blank."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def check(noun: str, texts: Sequence[str], max_texts: int) -> None:
    """Raises InputError if there is no text, one is empty, or there are too many."""
    if not texts:
        raise InputError(f"No {noun.lower()} is given: type at least one.")
    if len(texts) > max_texts:
        raise InputError(f"{len(texts)} {noun.lower()}s are too many: at most {max_texts}.")
    for i, text in enumerate(texts):
        if not text.strip():
            raise InputError(f"{noun} {i + 1} is empty: type at least one word.")


def require_tokens(noun: str, texts: Sequence[Tokens]) -> None:
    """Raises InputError if a text has no token."""
    for i, tokens in enumerate(texts):
        if not tokens:
            raise InputError(f"{noun} {i + 1} has no character that the model can read: type at least one word.")


def pool_roles(
    query: Role, key: Role, context: Role, limits: Limits, notes: Sequence[str], texts: Mapping[str, str]
) -> Roles:
    """Query, key and context, each pooled to its number of cells (unchanged without cells).

    texts: texts whose sentences do not share a cell.
    """
    if limits.cells:
        query, key, context = (role.pool(n, texts) for role, n in zip((query, key, context), limits.cells))
    return Roles(query, key, context, tuple(notes))


def rank(probabilities: Sequence[float], label: int | None) -> int:
    """The rank of the true answer, from 1; ties rank before it: a model that cannot decide has not found it.

    Raises DataError where the true answer is not known.
    """
    if label is None:
        raise DataError("a row has no label: only labelled rows can be scored")
    return sum(probability >= probabilities[label] for probability in probabilities)


def chance(sizes: Iterable[int]) -> dict[str, float]:
    """`chance`: the accuracy, in per cent, of random choice, from the number of answers of each example."""
    chances = [1 / max(2, size) for size in sizes]
    return {"chance": round(100 * sum(chances) / len(chances), 2)}


def share(right: Iterable[bool]) -> float:
    """The share of true values, in per cent."""
    values = list(right)
    return round(100 * sum(values) / len(values), 2)
