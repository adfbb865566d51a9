"""Bilinear similarity of the QA study (the T-trilinear paper, Table 1): the trilinear one without its product."""

from __future__ import annotations

from torch import Tensor, nn

from triattn_core.attention.parameters import vector


class Bilinear(nn.Module):
    """`w_p·h + w_q·u` with w_p, w_q [d].

    `w_p·h` is the same for every question word, so it cancels in the softmax over these.
    """

    def __init__(self, features: int):
        super().__init__()
        self.w_p, self.w_q = vector(features), vector(features)

    def forward(self, H: Tensor, U: Tensor) -> Tensor:
        """[B, M, d], [B, N, d] → [B, M, N]."""
        return (H @ self.w_p)[..., :, None] + (U @ self.w_q)[..., None, :]

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms of one score."""
        return {"w_p·h": self.w_p * h, "w_q·u": self.w_q * u}
