"""FNN similarity (the T-trilinear paper, Table 1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from triattn_core.attention.parameters import matrix, vector
from triattn_core.attention.tri_similarity.additive import add


class Fnn(nn.Module):
    """`w · tanh(W_p h + W_q u)` with W_p, W_q [d, d] and w [d]: Add, with its fast exponential form."""

    def __init__(self, features: int):
        super().__init__()
        self.W_p, self.W_q = matrix(features, features), matrix(features, features)
        self.w = vector(features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return add(H, U, self.W_p, self.W_q, self.w)

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"w·tanh(W_p h + W_q u)": self.w * torch.tanh(h @ self.W_p.mT + u @ self.W_q.mT)}
