"""Concat-FNN similarity (the T-trilinear paper, Table 1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from triattn_core.attention.parameters import matrix, vector
from triattn_core.attention.tri_similarity.additive import add


class ConcatFnn(nn.Module):
    """`w · tanh(W [h; u])` with W [d, 2d] and w [d].

    As `W [h; u] = W_h h + W_u u`, it is FNN with the halves of one matrix, whose initial values are smaller than those
    of two separate ones.
    """

    def __init__(self, features: int):
        super().__init__()
        self.W, self.w = matrix(features, 2 * features), vector(features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        W_h, W_u = self.W.chunk(2, -1)
        return add(H, U, W_h, W_u, self.w)

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        W_h, W_u = self.W.chunk(2, -1)
        return {"w·tanh(W [h; u])": self.w * torch.tanh(h @ W_h.mT + u @ W_u.mT)}
