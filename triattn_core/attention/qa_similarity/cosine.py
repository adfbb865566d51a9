"""Cosine similarity (the T-trilinear paper, Table 1)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import normalize


class Cosine(nn.Module):
    """`h·u / (|h| |u|)`, and 0 where one of them is zero; nothing to learn."""

    def __init__(self, features: int):
        super().__init__()

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return normalize(H, dim=-1) @ normalize(U, dim=-1).mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """What one score is made of."""
        return {"h·u / (|h| |u|)": normalize(h, dim=-1) * normalize(u, dim=-1)}
