"""Match2 and Match3 (Sanford, Hsu, Telgarsky 2023, arXiv 2306.02896): is there one other number, or are there two
others, that add up with this one to 0 modulo M?

Indices are distinct: with repeated ones Match3 is partly a two-way question.  Attention gives no weight to a number
paired with itself, and rows in which such a pair would fit are drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from random import Random

from triattn_core.tasks.laboratory.example import ROLES, Cell, Example
from triattn_core.tasks.laboratory.statements import MATCH
from triattn_core.tasks.laboratory.task import LaboratoryTask

STATEMENTS = {
    2: (
        f"one layer of two-way attention of constant width is enough ({MATCH}).",
        "that all mechanisms learn it here, one layer of Bi last (96.6 % after 2,000 steps, 100 % after 10,000): it is "
        "the control. Rows are few: of 4,000 held-out ones 1,505 stand in training, their numbers in another order.",
    ),
    3: (
        f"one layer of two-way attention fails unless the product of width, heads and precision grows with the length "
        f"({MATCH}; at any precision: Kozachinskiy et al. 2025, arXiv 2501.19215). The theorems are asymptotic: at 8 "
        "numbers nothing is forbidden.",
        "that Tri of this size learns it at this length from batches of 512 rows, not from batches of 128. Two-way "
        "attention learns part of it in as many steps, from ten times the rows at a third of the rate: one layer of Bi "
        "61 to 64 %, C-Bi 83 to 86, two layers of Bi 84 to 93, still improving at the end. From Tri's rows at its rate "
        "they learn nothing, or the rows by heart.",
    ),
}  # by how many numbers add up: what is proved, what is only observed
NUMBERS = 8  # the query among them, unless another size is asked for


class Match(LaboratoryTask):
    """The query is one of `size` numbers modulo `modulus`, keys and context both are the others.

    In Match2 (`order` 2) the context adds nothing: a true key is true with every context token.
    """

    LABELS = ("no", "yes")
    FIELDS = ("Number", "The others")
    TOKENS = ("number", "number", "number")
    REPEATS = True
    SIZE = "numbers"

    def __init__(self, order: int, modulus: int, opening_row: int, size: int = NUMBERS):
        self.PROVED, self.OBSERVED = STATEMENTS[order]
        self.NAME, self.LABEL, self.order, self.MODULUS = f"match{order}", f"Match{order}", order, modulus
        self.OPENING_ROW, self.size = opening_row, size
        self.SIZES = (4, 16) if order == 3 else None
        self.DISTINCT = order == 3

    def with_size(self, size: int) -> Match:
        """The task with `size` numbers, modulo the odd number for which about half of the rows are true:
        (n - 1)(n - 2) / (2 ln 2)."""
        modulus = 2 * int((size - 1) * (size - 2) / (4 * log(2))) + 1
        return Match(self.order, modulus, self.OPENING_ROW, size)

    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Draws the label first, then numbers until they match it."""
        label = random.randrange(2)
        while True:
            query, *numbers = (random.randrange(self.MODULUS) for _ in range(self.size))
            repeated = self.order == 3 and any((query + 2 * other) % self.MODULUS == 0 for other in numbers)
            if not repeated and bool(self._cells(query, numbers)) == label:
                texts = tuple(map(str, numbers))
                return str(query), texts, texts

    def _cells(self, query: int, numbers: Sequence[int]) -> tuple[Cell, ...]:
        places = [(i, j) for i in range(len(numbers)) for j in range(len(numbers))]
        if self.order == 2:
            return tuple((i, j) for i, j in places if (query + numbers[i]) % self.MODULUS == 0)
        return tuple((i, j) for i, j in places if i != j and (query + numbers[i] + numbers[j]) % self.MODULUS == 0)

    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The true cells, in Match3 in both orders; keys and context are the same numbers."""
        return self._cells(int(query), list(map(int, keys)))

    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """1 if there is a true cell, else 0."""
        return int(bool(self.truth(query, keys, context)))

    def answer_cells(self, example: Example) -> tuple[Cell, ...]:
        """The true cells: in Match3 each unordered pair once, in Match2 every cell, since only the key counts there."""
        pairs = sorted({(min(cell), max(cell)) for cell in example.truth})
        return tuple(pairs) if self.order == 3 else example.truth

    def describe_cell(self, example: Example, cell: Cell) -> str:
        """The two numbers of the cell; in Match2 only the key, since its context adds nothing."""
        return example.keys[cell[0]] if self.order == 2 else super().describe_cell(example, cell)

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
        numbers_text = ", ".join(example.keys)
        return f"{question} among {numbers_text} that {adds} up with {example.query} to 0 modulo {self.MODULUS}?"


MATCH2, MATCH3 = Match(2, 11, opening_row=1), Match(3, 31, opening_row=12)
