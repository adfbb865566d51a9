"""Hadamard similarity (the T-trilinear paper, Table 1; Weissenborn et al. 2017)."""

from __future__ import annotations

from torch import Tensor, nn

from triattn_core.attention.parameters import vector


class Hadamard(nn.Module):
    """`w · (h * u)` with w [d]."""

    def __init__(self, features: int):
        super().__init__()
        self.w = vector(features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return (H * self.w) @ U.mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"w·(h * u)": self.w * h * u}
