"""Dot product (the T-trilinear paper, Table 1)."""

from __future__ import annotations

from torch import Tensor, nn


class Dot(nn.Module):
    """`h·u`; no parameters."""

    def __init__(self, features: int):
        super().__init__()

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return H @ U.mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"h·u": h * u}
