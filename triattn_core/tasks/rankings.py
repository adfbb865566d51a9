"""What the tasks share that choose among texts: candidates of a dialogue, options of a question.

Such a task has WORDS, and of an example `parts` and back `from_parts`, `options`, and `title`: forms, lists and pages
are made of them and know none of these tasks by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from triattn_core.errors import InputError
from triattn_core.text.roles import Limits, Role, Roles
from triattn_core.text.tokenizer import Tokens


@dataclass(frozen=True)
class Words:
    """What people read about a task.

    one: what an example is called.  axes: what is query, key and context.  sides: what asks and what answers, short.
    right: what a right option is called.  texts, options: headings over what is read and over what is chosen from.
    ways: to what its context folds, of `text_units.UNITS`, the one pages open on first.  chat: its texts are turns,
    else the first one is a text of sentences.
    parts: the texts that are written for an example, each with its label; `lists`: those of one text a line, the last
    of which is the example's field of options.
    """

    one: str
    axes: tuple[str, str, str]
    sides: tuple[str, str]
    right: str
    texts: str
    options: str
    ways: tuple[str, ...]
    chat: bool
    parts: Mapping[str, str]
    lists: tuple[str, ...]


def lines(text: str) -> tuple[str, ...]:
    """The lines that are not blank."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def check(what: str, texts: Sequence[str], most: int) -> None:
    """Raises InputError where there is none, one is empty, or there are too many."""
    if not texts:
        raise InputError(f"No {what.lower()} is given: type at least one.")
    if len(texts) > most:
        raise InputError(f"{len(texts)} {what.lower()}s are too many: at most {most}.")
    for i, text in enumerate(texts):
        if not text.strip():
            raise InputError(f"{what} {i + 1} is empty: type at least one word.")


def readable(what: str, found: Sequence[Tokens]) -> None:
    """Raises InputError where one has no token."""
    for i, tokens in enumerate(found):
        if not tokens:
            raise InputError(f"{what} {i + 1} has no character that the model can read: type at least one word.")


def filtered(
    query: Role, key: Role, context: Role, limits: Limits, notes: Sequence[str], texts: Mapping[str, str]
) -> Roles:
    """Query, key and context, each in its cells.

    texts: those whose sentences are kept apart.
    """
    roles = [query, key, context]
    if limits.cells:
        roles = [role.pooled(most, texts) for role, most in zip(roles, limits.cells)]
    return Roles(*roles, tuple(notes))


def rank(probabilities: Sequence[float], label: int) -> int:
    """The place of the true answer, from 1; equals come before it: a model that cannot decide has not found it."""
    return sum(probability >= probabilities[label] for probability in probabilities)


def chance(sizes: Iterable[int]) -> dict[str, float]:
    """`chance`: how often a blind choice is right, in per cent, from the number of answers of each example."""
    found = [1 / max(2, size) for size in sizes]
    return {"chance": round(100 * sum(found) / len(found), 2)}


def share(right: Iterable[bool]) -> float:
    """In per cent."""
    found = list(right)
    return round(100 * sum(found) / len(found), 2)
