"""T-trilinear, the similarity that the QA study proposes (the T-trilinear paper, Eqs. 14 to 16)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import relu

from triattn_core.attention.qa_similarity.trilinear import Trilinear


class TTrilinear(nn.Module):
    """Trilinear on `h^t = relu(W_1 h + b_1)` and `u^t = relu(W_2 u + b_2)`; W [d, d], b [d]."""

    def __init__(self, features: int):
        super().__init__()
        self.first, self.second = nn.Linear(features, features), nn.Linear(features, features)
        self.trilinear = Trilinear(features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return self.trilinear(relu(self.first(H)), relu(self.second(U)))

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score, in the transformed states."""
        products = self.trilinear.terms(relu(self.first(h)), relu(self.second(u)))
        return dict(zip(("w_p·h^t", "w_q·u^t", "w_pq·(h^t * u^t)"), products.values()))
