"""Scaled dot product (the T-trilinear paper, Table 1; Vaswani et al. 2017)."""

from __future__ import annotations

from math import sqrt

from torch import Tensor, nn


class ScaledDot(nn.Module):
    """`h·u / sqrt(d)`; no parameters."""

    def __init__(self, features: int):
        super().__init__()

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return H @ U.mT / sqrt(H.shape[-1])

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"h·u / sqrt(d)": h * u / sqrt(h.shape[-1])}
