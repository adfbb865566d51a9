"""A number, the numbers that it may be made of, and the pair that makes it: one example of the task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triattn_core.errors import DataError, InputError
from triattn_core.tasks.operands.gsm8k import MOST, makes
from triattn_core.tasks.operands.typed_problem import typed_numbers
from triattn_core.tasks.operands.word_numbers import KINDS, Number
from triattn_core.text.row_fields import field

Pair = tuple[int, int]


@dataclass(frozen=True)
class Example:
    """A number, and the numbers that it may be made of.

    text: the problem, and the earlier steps if there are any; "" where only the words around its numbers are known.
    truth: pairs (i, j), i < j, of positions among `numbers`, any of which is right; none if unknown.
    operation: of `gsm8k.OPERATIONS`; "" if unknown.
    """

    text: str
    numbers: tuple[Number, ...]
    result: float
    operation: str = ""
    truth: tuple[Pair, ...] = ()
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"problem", "makes"}`, or from a prepared row `{"numbers", "kinds", "ctx", "result", "op", "gold"}`.

        A problem may end in steps, see `typed_problem`.  Raises DataError that names the field.
        """
        if "problem" in row:
            problem, number = field(row, "problem", where), _number(row, "makes", where)
            numbers = tuple(typed_numbers(problem))
            truth = _pairs(row.get("truth", []), "truth", where, len(numbers))
            return cls(problem, numbers, number, row.get("op", ""), truth, str(row.get("id", "")))
        numbers = tuple(_prepared(row, where))
        truth = _pairs(row.get("gold", []), "gold", where, len(numbers))
        return cls("", numbers, _number(row, "result", where), row.get("op", ""), truth, str(row.get("id", "")))

    @property
    def label(self) -> int | None:
        """The place of the first true pair among all pairs; None if unknown."""
        return place_of(self.truth[0]) if self.truth else None

    @property
    def fitting(self) -> tuple[Pair, ...]:
        """The pairs that make the number by one of the four operations, the true ones among them."""
        values = [number.value for number in self.numbers]
        found = {pair for pair in pairs(len(values)) if makes(values[pair[0]], values[pair[1]], self.result)}
        return tuple(sorted(found | set(self.truth)))

    def check(self) -> None:
        """Raises InputError if there are too few numbers to choose from, or more than are read."""
        count = len(self.numbers)
        if not 2 <= count <= MOST:
            found = f"{count or 'no'} number{'s' * (count != 1)}"
            raise InputError(f"The problem has {found}: from 2 to {MOST} are read, as digits or as English words.")


def pairs(count: int) -> list[Pair]:
    """All pairs (i, j), i < j, of `count` positions, in the order of `place_of`."""
    return [(i, j) for j in range(count) for i in range(j)]


def place_of(pair: Pair) -> int:
    """The place of a pair among the pairs of however many positions: those of the first ones come first."""
    i, j = pair
    return j * (j - 1) // 2 + i


def _number(row: Mapping, name: str, where: str) -> float:
    value: Any = row.get(name)
    if not _is_number(value):
        raise DataError(f"{where}: field {name!r} must be a number, got {value!r:.40}")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _pairs(value: Any, name: str, where: str, count: int) -> tuple[Pair, ...]:
    good = isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(i) is int and 0 <= i < count for i in pair)
        for pair in value
    )
    if not good or any(i == j for i, j in value):
        raise DataError(f"{where}: field {name!r} must be a list of pairs of positions, got {value!r:.40}")
    return tuple(sorted({(min(i, j), max(i, j)) for i, j in value}))


def _prepared(row: Mapping, where: str) -> Iterator[Number]:
    values, kinds, words = (row.get(name) for name in ("numbers", "kinds", "ctx"))
    columns = [column for column in (values, kinds, words) if isinstance(column, list)]
    if len(columns) != 3 or len({len(column) for column in columns}) != 1:
        raise DataError(f"{where}: fields 'numbers', 'kinds' and 'ctx' must be lists of one length")
    for value, kind, around in zip(*columns):
        if kind not in KINDS or not _is_number(value) or not isinstance(around, list):
            raise DataError(f"{where}: a number must have a value, a kind of {KINDS} and words, got {value!r:.40}")
        yield Number(float(value), kind, tuple(map(str, around)))
