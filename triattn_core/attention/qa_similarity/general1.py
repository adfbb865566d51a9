"""General-1 similarity (the T-trilinear paper, Table 1; Luong et al. 2015)."""

from __future__ import annotations

from torch import Tensor, nn

from triattn_core.attention.parameters import matrix
from triattn_core.attention.tri_similarity.bilinear import bili


class General1(nn.Module):
    """`h' W u` with W [d, d]: the bilinear form of `attention.tri_similarity`."""

    def __init__(self, features: int):
        super().__init__()
        self.W = matrix(features, features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return bili(H, U, self.W)

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"h·(W u)": h * (u @ self.W.mT)}
