"""Trilinear similarity (the T-trilinear paper, Table 1; Seo et al. 2017)."""

from __future__ import annotations

from torch import Tensor

from triattn_core.attention.parameters import vector
from triattn_core.attention.qa_similarity.bilinear import Bilinear


class Trilinear(Bilinear):
    """`w_p·h + w_q·u + w_pq·(h * u)` with w_p, w_q, w_pq [d]; the last term is `(H * w_pq) U'`."""

    def __init__(self, features: int):
        super().__init__(features)
        self.w_pq = vector(features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return super().forward(H, U) + (H * self.w_pq) @ U.mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return super().terms(h, u) | {"w_pq·(h * u)": self.w_pq * h * u}
