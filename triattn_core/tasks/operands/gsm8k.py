"""GSM8K's own file (Cobbe et al. 2021, arXiv 2110.14168): problems, and answers with annotated steps `<<3*24=72>>`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triattn_core.errors import DataError
from triattn_core.tasks.operands.word_numbers import Number, find_numbers, is_near, result_of_step

FEWEST, MOST = 4, 16  # numbers that a step may choose from
OPERATIONS = "+-*/"
_ANNOTATION = re.compile(r"<<([^<>]*)>>")
_NUMBER = r"\(?(\d[\d,]*\.?\d*|\.\d+)\)?"
_TWO = re.compile(rf"\s*{_NUMBER}\s*([-+*/])\s*{_NUMBER}\s*")


@dataclass(frozen=True)
class Step:
    """One annotated step of two numbers: what it makes, how, and from which of the numbers that stand before it.

    text: the problem, a line break, and the steps before this one, without annotations.
    truth: pairs (i, j), i < j, of positions among `numbers` that hold the two values; any of them is right.
    """

    text: str
    numbers: tuple[Number, ...]
    result: float
    operation: str
    truth: tuple[tuple[int, int], ...]


def operate(left: float, operation: str, right: float) -> float | None:
    """What an operation makes of two numbers; None for a division by zero."""
    if operation == "/":
        return left / right if right else None
    return {"+": left + right, "-": left - right, "*": left * right}[operation]


def makes(left: float, right: float, result: float) -> tuple[str, ...]:
    """The operations that make a result of two numbers, in either order."""
    made = [(sign, operate(*pair)) for sign in OPERATIONS for pair in ((left, sign, right), (right, sign, left))]
    return tuple(dict.fromkeys(sign for sign, value in made if value is not None and is_near(value, result)))


def pairs_of(numbers: Sequence[Number], left: float, right: float) -> tuple[tuple[int, int], ...]:
    """The pairs of two different positions that hold these two values."""
    lefts, rights = ([i for i, number in enumerate(numbers) if _same(number.value, v)] for v in (left, right))
    return tuple(sorted({(min(i, j), max(i, j)) for i in lefts for j in rights if i != j}))


def _same(value: float, other: float) -> bool:
    return abs(value - other) <= 1e-6 * max(1.0, abs(other))


def steps(question: str, answer: str, where: str = "input") -> Iterator[tuple[int, Step]]:
    """(number of the annotation, from 0; the step) of those made of two numbers that stand among FEWEST to MOST before.

    Raises DataError for an annotation whose result is no number.
    """
    text, numbers, count = question + "\n", list(find_numbers(question)), 0
    for line in answer.splitlines():
        line_text, end = "", 0
        for match in _ANNOTATION.finditer(line):
            line_text += line[end : match.start()]
            end = match.end()
            left_side, _, right_side = match[1].rpartition("=")
            try:
                result = float(right_side.replace(",", "").strip(" $"))
            except ValueError:
                raise DataError(f"{where}: annotation {match[0]!r:.60} must end in = and a number") from None
            two = _TWO.fullmatch(left_side)
            if two and FEWEST <= len(numbers) <= MOST:
                left, right = (float(two[i].replace(",", "")) for i in (1, 3))
                if truth := pairs_of(numbers, left, right):
                    yield count, Step(text + line_text, tuple(numbers), result, two[2], truth)
            start = len(text) + len(line_text)
            written = re.match(r"[\d.,]*\d", line[end:])
            numbers.append(result_of_step(line_text, result, (start, start + len(written[0] if written else ""))))
            count += 1
        text += line_text + line[end:] + "\n"
