"""General-2 similarity (the T-trilinear paper, Table 1)."""

from __future__ import annotations

from torch import Tensor, nn

from triattn_core.attention.parameters import matrix


class General2(nn.Module):
    """`(W_1 h)·(W_2 u)` with W_1, W_2 [d, d]."""

    def __init__(self, features: int):
        super().__init__()
        self.W_1, self.W_2 = matrix(features, features), matrix(features, features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return (H @ self.W_1.mT) @ (U @ self.W_2.mT).mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"(W_1 h)·(W_2 u)": (h @ self.W_1.mT) * (u @ self.W_2.mT)}
