"""Which operation made a number, read through the weights of the pairs alone.

The three ways differ only in where the mean over the pairs is taken, so that the same weights are learnt: of the pairs'
vectors, as attention does; of no pairs, since the strongest is chosen (straight through: Bengio, Léonard, Courville
2013, arXiv 1308.3432); or of what each pair alone would answer, so that a pair is right or wrong by itself.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, one_hot

from triattn_core.tasks.operands.gsm8k import OPERATIONS

READ_BY = ("mean", "choice", "pairs")
WIDTH = 64  # features of a pair


class OperationReader(nn.Module):
    """Log-probabilities [B, operations] of how a number was made; `by`: of READ_BY."""

    def __init__(self, hidden: int, by: str):
        super().__init__()
        self.by = by
        self.left, self.right, self.made = (nn.Linear(hidden, WIDTH) for _ in range(3))
        self.norm = nn.LayerNorm(WIDTH)
        self.mix, self.predict = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, len(OPERATIONS))

    def forward(self, made: Tensor, numbers: Tensor, cells: Tensor) -> Tensor:
        """made: [B, 1, hidden], the number.  numbers: [B, n, hidden].  cells: [B, n, n], the weight of each ordered
        pair; both orders count together."""
        size = cells.shape[-1]
        first, second = torch.triu_indices(size, size, 1, device=cells.device)
        pairs = gelu(self.left(numbers)[:, first] + self.right(numbers)[:, second])  # [B, pairs, WIDTH]
        weights = (cells + cells.mT)[:, first, second]
        if self.by == "pairs":
            return (weights.unsqueeze(-1) * self.answer(made, pairs).exp()).sum(1).clamp(min=1e-9).log()
        if self.by == "choice":
            weights = straight_through(weights)
        return self.answer(made, weights[:, None] @ pairs)[:, 0]

    def answer(self, made: Tensor, pairs: Tensor) -> Tensor:
        """Log-probabilities [B, m, operations] of each of m vectors of pairs [B, m, WIDTH]."""
        return self.predict(gelu(self.mix(self.norm(self.made(made) + pairs)))).log_softmax(-1)


def straight_through(weights: Tensor) -> Tensor:
    """1 for the largest weight of each row [B, m] and 0 for the others; the gradient is that of the weights."""
    chosen = one_hot(weights.argmax(-1), weights.shape[-1]).to(weights)
    return chosen + weights - weights.detach()
