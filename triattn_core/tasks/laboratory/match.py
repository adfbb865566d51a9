"""Match2 and Match3 (Sanford, Hsu, Telgarsky 2023, arXiv 2306.02896): is there one other number, or are there two
others, that add up with this one to 0 modulo M?

Indices are distinct: with repeated ones Match3 is partly a two-way question.  Rows in which a repeated number would
fit are drawn anew, so that no cell of the diagonal is ever true and none needs a mask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from triattn_core.tasks.laboratory.task import ROLES, Cell, Example, LaboratoryTask

OTHERS = 7  # numbers beside the query: n = 8 in all


class Match(LaboratoryTask):
    """The query is one of n numbers modulo `modulus`, keys and context both are the others.

    Of Match2 (`order` 2) the context adds nothing: a true key is true with every context token.
    """

    LABELS = ("no", "yes")

    def __init__(self, order: int, modulus: int, opening_row: int):
        self.NAME, self.LABEL, self.order, self.MODULUS = f"match{order}", f"Match{order}", order, modulus
        self.OPENING_ROW = opening_row

    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The label is drawn first, then numbers until they have it."""
        wanted = random.randrange(2)
        while True:
            query, *others = (random.randrange(self.MODULUS) for _ in range(OTHERS + 1))
            repeated = self.order == 3 and any((query + 2 * other) % self.MODULUS == 0 for other in others)
            if not repeated and bool(self._cells(query, others)) == wanted:
                texts = tuple(map(str, others))
                return str(query), texts, texts

    def _cells(self, query: int, others: Sequence[int]) -> tuple[Cell, ...]:
        places = [(i, j) for i in range(len(others)) for j in range(len(others))]
        if self.order == 2:
            return tuple((i, j) for i, j in places if (query + others[i]) % self.MODULUS == 0)
        return tuple((i, j) for i, j in places if i != j and (query + others[i] + others[j]) % self.MODULUS == 0)

    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The cells that fit, of Match3 in both orders; keys and context are the same numbers."""
        return self._cells(int(query), list(map(int, keys)))

    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """Whether there is one."""
        return int(bool(self.truth(query, keys, context)))

    def solve(self, query: str, keys: Sequence[str], context: Sequence[str], id: str = "") -> Example:
        """As for every task; the context is the keys again."""
        return super().solve(query, keys, keys, id)

    def tokens(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Numbers."""
        return ((role, str(code), (str(code),)) for role in ROLES for code in range(self.MODULUS))

    def say(self, example: Example) -> str:
        """The row in words."""
        question = "Is there one" if self.order == 2 else "Are there two"
        adds = "adds" if self.order == 2 else "add"
        others = ", ".join(example.keys)
        return f"{question} among {others} that {adds} up with {example.query} to 0 modulo {self.MODULUS}?"


MATCH2, MATCH3 = Match(2, 11, opening_row=1), Match(3, 31, opening_row=5)
