"""Vectors of numbers: the value as waves (Fourier features of the value and of its logarithm), kind, place, and words.

Such features suit a product: cos(a + b - c) is a sum of four products of three.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu

from triattn_core.inference.number_batch import BUCKETS, NumberBatch
from triattn_core.tasks.operands.gsm8k import MOST
from triattn_core.tasks.operands.word_numbers import AROUND, KINDS

OCTAVES = 13  # waves of the logarithm, the first of ten decades
PERIODS = (
    0.5, 1, 2, 3, 4, 5, 7, 10, 13, 17, 20, 25, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 2000, 4000, 10000, 50000,
    200000,
)  # fmt: skip
FEATURES = 5 + 2 * OCTAVES + 2 * len(PERIODS)
WORD = 32  # features of a word
DROPPED = 0.5  # share of the features of the words, in training


def value_features(values: Tensor) -> Tensor:
    """[…] double → [… , FEATURES] float: 1, the value and its logarithm with their squares, and cos and sin of both.

    The waves of a value have PERIODS; those of log10 of it have 0.1 · 2^k turns a decade.
    """
    logs = values.abs().clamp(min=1e-4).log10()
    turns = torch.cat(
        [
            logs[..., None] * 0.1 * 2.0 ** torch.arange(OCTAVES, dtype=torch.double, device=values.device),
            values[..., None] / torch.tensor(PERIODS, dtype=torch.double, device=values.device),
        ],
        -1,
    )
    small = values.clamp(-1e3, 1e3) / 100
    plain = torch.stack([torch.ones_like(logs), logs, values.clamp(-1e4, 1e4) / 100, logs**2, small**2], -1)
    angles = 2 * math.pi * turns
    return torch.cat([plain, angles.cos(), angles.sin()], -1).float()


class Numbers(nn.Module):
    """Vectors of the number made [B, 1, hidden] and of the numbers of the problem [B, n, hidden].

    frozen: features of the words, where a frozen encoder reads them; 0 where their vectors are learnt.
    """

    def __init__(self, hidden: int, inputs: str, frozen: int = 0):
        super().__init__()
        self.inputs = inputs
        self.value = nn.Linear(FEATURES, hidden)
        self.widen, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)
        self.kinds = nn.Embedding(len(KINDS) + 1, hidden)  # the last is the number made
        self.places, self.held = nn.Embedding(MOST, hidden), nn.Embedding(2, hidden)
        for table in (self.kinds, self.places, self.held):
            nn.init.normal_(table.weight, std=0.3)
        if self.inputs != "values":
            self.words = None if frozen else nn.Embedding(1 + BUCKETS, WORD, padding_idx=0)
            self.around = nn.Linear(frozen or 2 * WORD, hidden)
            if self.words is not None:
                nn.init.normal_(self.words.weight, std=0.5)
                nn.init.zeros_(self.words.weight[0].data)
            nn.init.zeros_(self.around.weight)  # words begin by saying nothing
            nn.init.zeros_(self.around.bias)
        self.norm = nn.LayerNorm(hidden)

    def forward(self, batch: NumberBatch) -> tuple[Tensor, Tensor]:
        """The number made, and the numbers."""
        made = self.of_values(batch.results[:, None]) + self.kinds.weight[-1]
        numbers = self.kinds(batch.kinds) + self.places(batch.places) + self.held(batch.held)
        if self.inputs != "words":
            numbers = numbers + self.of_values(batch.values)
        if self.inputs != "values":
            numbers = numbers + self.around(dropout(self._sides(batch.words), DROPPED, self.training))
        return self.norm(made), self.norm(numbers)

    def _sides(self, words: Tensor) -> Tensor:
        """[B, n, 2 AROUND] long → [B, n, 2 WORD]: the sum before and after; vectors of an encoder as they are."""
        if self.words is None:
            return words
        vectors = self.words(words)
        return torch.cat([vectors[..., :AROUND, :].sum(-2), vectors[..., AROUND:, :].sum(-2)], -1)

    def of_values(self, values: Tensor) -> Tensor:
        """[B, n] → [B, n, hidden]."""
        states = self.value(value_features(values))
        return states + self.narrow(gelu(self.widen(states)))
