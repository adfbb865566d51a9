"""New numbers for old problems: a step keeps its words, its kinds and its operation, and makes another number.

A model that has seen each problem with many numbers must compute the operation, and cannot learn results by heart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from triattn_core.inference.number_batch import NumberBatch
from triattn_core.tasks.operands.example import Example
from triattn_core.tasks.operands.gsm8k import OPERATIONS, operate
from triattn_core.tasks.operands.word_numbers import KINDS, is_near

FACTORS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0)
NEAR = 9  # most that is added or taken away
LARGEST = 1e7  # of a number made
WORD = KINDS.index("word")


@dataclass(frozen=True)
class Operands:
    """The operands of B steps in their order.

    left, right: [B] long, positions of a true pair.  operation: [B] long, of OPERATIONS; -1 where no order of the pair
    makes the number, so that it cannot be made anew.
    """

    left: Tensor
    right: Tensor
    operation: Tensor

    def take(self, rows: Tensor) -> Operands:
        """Some rows."""
        return Operands(self.left[rows], self.right[rows], self.operation[rows])


def operands_of(examples: Sequence[Example]) -> Operands:
    """The operands of some examples."""
    return Operands(*torch.tensor([_order(example) for example in examples], dtype=torch.long).T.unbind())


def _order(example: Example) -> tuple[int, int, int]:
    values = [number.value for number in example.numbers]
    for pair in example.truth:
        for i, j in (pair, pair[::-1]):
            made = operate(values[i], example.operation, values[j])
            if made is not None and is_near(made, example.result):
                return i, j, OPERATIONS.index(example.operation)
    return 0, 0, -1


def redraw(batch: NumberBatch, operands: Operands, pool: Tensor, share: float) -> NumberBatch:
    """A share of the rows with new values; values that words hold (a dozen, an hour) stay, equal values stay equal.

    A row's values come from `pool` [values], or are the old ones times FACTORS, or up to NEAR more or less, a third of
    the rows each; the number made follows.  Rows whose new number would not lie between 0 and LARGEST stay.
    """
    values, rows = batch.values, torch.arange(len(batch.values))
    shape = values.shape
    drawn = pool[torch.randint(len(pool), shape)]
    scaled = values * torch.tensor(FACTORS, dtype=values.dtype)[torch.randint(len(FACTORS), shape)]
    moved = values + torch.randint(-NEAR, NEAR + 1, shape)
    way = torch.rand(len(values), 1)
    new = torch.where(way < 1 / 3, drawn, torch.where(way < 2 / 3, scaled, torch.where(moved > 0, moved, drawn)))
    same = values[:, :, None] == values[:, None, :]
    new = new.gather(1, same.int().argmax(2))
    held_by_word = (same & (batch.kinds == WORD)[:, None, :]).any(2)
    new = torch.where(held_by_word, values, new)
    left, right = new[rows, operands.left], new[rows, operands.right]
    made = torch.stack([left + right, left - right, left * right, left / right.where(right != 0, 1.0)], 1)
    result = made[rows, operands.operation.clamp(min=0)]
    chosen = (torch.rand(len(values)) < share) & (operands.operation >= 0) & (result > 0) & (result < LARGEST)
    return replace(
        batch, values=torch.where(chosen[:, None], new, values), results=torch.where(chosen, result, batch.results)
    )
