"""Bilinear relevance and the economic trilinear form (Tri-Attention, Eqs. 9 and 14)."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from triattn_core.attention.factored import Factors
from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.parameters import matrix
from triattn_core.attention.tri_similarity.dot import tdp


def bili(
    query: Float[Tensor, "*q N D"], key: Float[Tensor, "*k I D"], W: Float[Tensor, "*w D D"]
) -> Float[Tensor, "*s N I"]:
    """`q' W k` for every query and key (Eq. 9)."""
    return query @ W @ key.mT


def trili(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    W: Float[Tensor, "*w D D"],
    U: Float[Tensor, "*w D D"],
    H: Float[Tensor, "*w D D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`<W q, U k, H c>` for every query, key and context token (Eq. 14).

    In rows without context `H c` is 1, so that the score is `bili` with the matrix `W' U`.
    """
    return tdp(query @ W.mT, key @ U.mT, with_neutral(context @ H.mT, has_context, 1.0))


class Bilinear(nn.Module):
    """Per head: W `[heads, D, D]` two-way; W, U and H three-way."""

    value = "bilinear"  # the paired contextual value (section IV-E)

    def __init__(self, heads: int, features: int, context: bool):
        super().__init__()
        self.W = matrix(heads, features, features)
        if context:
            self.U, self.H = matrix(heads, features, features), matrix(heads, features, features)

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return bili(query, key, self.W)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return trili(query, key, context, self.W, self.U, self.H, has_context)

    def factors(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Factors:
        """The factors that `three` multiplies and sums over features: `W q`, `U k` and `H c`."""
        return query @ self.W.mT, key @ self.U.mT, with_neutral(context @ self.H.mT, has_context, 1.0)
