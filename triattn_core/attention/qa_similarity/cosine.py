"""Cosine similarity (the T-trilinear paper, Table 1)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize


class Cosine(nn.Module):
    """`h·u / (|h| |u|)`, and 0 where one of them is zero; nothing to learn."""

    def __init__(self, features: int):
        super().__init__()

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return unit(H) @ unit(U).mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """What one score is made of."""
        return {"h·u / (|h| |u|)": unit(h) * unit(u)}


def unit(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
    """x over its norm, of any length that its type holds; zeros where x is zeros.

    First over its largest feature: squares of 1e20 and of 1e-23 are nothing that float32 holds.
    """
    with torch.no_grad():
        largest = x.abs().amax(-1, keepdim=True)
    return normalize(x / torch.where(largest > 0, largest, 1.0), dim=-1)
