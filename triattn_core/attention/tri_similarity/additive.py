"""Additive relevance: Add and T-additive (Tri-Attention, Eqs. 6 and 10)."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.parameters import matrix, vector
from triattn_core.attention.tri_similarity.exponential import tanh_score


def add(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    W: Float[Tensor, "*w D D"],
    U: Float[Tensor, "*w D D"],
    p: Float[Tensor, "*w D"],
) -> Float[Tensor, "*s N I"]:
    """`p · tanh(W q + U k)` for every query and key (Eq. 6)."""
    return tanh_score((query @ W.mT)[..., :, None, :], key @ U.mT, p).squeeze(-2)


def tadd(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    W: Float[Tensor, "*w D D"],
    U: Float[Tensor, "*w D D"],
    H: Float[Tensor, "*w D D"],
    p: Float[Tensor, "*w D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`p · tanh(W q + U k + H c)` for every query, key and context token (Eq. 10).

    In rows without context `H c` is 0, so that the score is `add`'s.
    """
    pair = (query @ W.mT)[..., :, None, :] + (key @ U.mT)[..., None, :, :]
    return tanh_score(pair, with_neutral(context @ H.mT, has_context, 0.0), p)


class Additive(nn.Module):
    """Per head: W, U, H `[heads, D, D]` and p `[heads, D]`; two-way relevance has no H."""

    value = "additive"  # the paired contextual value (section IV-E)

    def __init__(self, heads: int, features: int, context: bool):
        super().__init__()
        self.W, self.U = matrix(heads, features, features), matrix(heads, features, features)
        self.p = vector(heads, features)
        if context:
            self.H = matrix(heads, features, features)

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return add(query, key, self.W, self.U, self.p)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return tadd(query, key, context, self.W, self.U, self.H, self.p, has_context)
