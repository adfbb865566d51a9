"""General-3 similarity (the T-trilinear paper, Table 1; Huang et al. 2018)."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import relu

from triattn_core.attention.qa_similarity.general2 import General2


class General3(General2):
    """`relu(W_1 h)·relu(W_2 u)` with W_1, W_2 [d, d]: never negative."""

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return relu(H @ self.W_1.mT) @ relu(U @ self.W_2.mT).mT

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"relu(W_1 h)·relu(W_2 u)": relu(h @ self.W_1.mT) * relu(u @ self.W_2.mT)}
