"""Cosine similarity (the T-trilinear paper, Table 1)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize


class Cosine(nn.Module):
    """`h·u / (|h| |u|)`, and 0 if one of them is zero; no parameters."""

    def __init__(self, features: int):
        super().__init__()

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return unit(H) @ unit(U).mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"h·u / (|h| |u|)": unit(h) * unit(u)}


def unit(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
    """x / |x|, for any magnitude that its type can hold; zeros if x is zero.

    x is first divided by its largest feature: float32 cannot hold the squares of 1e20 or 1e-23.
    """
    with torch.no_grad():
        largest = x.abs().amax(-1, keepdim=True)
    return normalize(x / torch.where(largest > 0, largest, 1.0), dim=-1)
