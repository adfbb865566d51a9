"""The read-out of the living TAN: every token is compared with its attended vector, then a sequence is pooled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from triattn_core.attention.states import States


class TokenComparison(nn.Module):
    """`MLP([x; y; x - y; x * y])` of a token x and its attended vector y; of several vectors, the last three of each.

    There is no path around it: one sequence affects the answer of another only through the attention.
    """

    def __init__(self, width: int, vectors: int, dropout: float):
        super().__init__()
        self.vectors = vectors
        self.mlp = nn.Sequential(
            nn.Linear((1 + 3 * vectors) * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, width)
        )

    def forward(self, tokens: Tensor, attended: Tensor) -> Tensor:
        """[B, N, width] and [B, N, vectors * width] → [B, N, width]."""
        parts = [part for y in attended.chunk(self.vectors, -1) for part in (y, tokens - y, tokens * y)]
        return self.mlp(torch.cat([tokens, *parts], -1))


def mean(states: States) -> Tensor:
    """Mean [B, h] over the real tokens; zeros if there is none."""
    keep = states.keep[..., None]
    return (states.vectors * keep).sum(1) / keep.sum(1).clamp(min=1)


def max_pool(states: States) -> Tensor:
    """Maximum [B, h] of each feature over the real tokens; zeros if there is none."""
    keep = states.keep[..., None]
    maxima = states.vectors.masked_fill(~keep, torch.finfo(states.vectors.dtype).min).amax(1)
    return torch.where(keep.any(1), maxima, 0.0)


POOLING = {"mean": (mean,), "mean_max": (mean, max_pool)}
