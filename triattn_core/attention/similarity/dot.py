"""Dot-product relevance: DP and T-dot-product (Tri-Attention, Eqs. 7 and 11)."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.products import Factors


def dp(query: Float[Tensor, "*q N D"], key: Float[Tensor, "*k I D"]) -> Float[Tensor, "*s N I"]:
    """`q · k` for every query and key (Eq. 7)."""
    return query @ key.mT


def tdp(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`sum_d q_d k_d c_d` for every query, key and context token (Eq. 11).

    In rows without context c is 1, so that the score is `dp`'s.
    """
    context = with_neutral(context, has_context, 1.0)
    pairs = query[..., :, None, :] * key[..., None, :, :]
    return (pairs.flatten(-3, -2) @ context.mT).unflatten(-2, pairs.shape[-3:-1])


class Dot(nn.Module):
    """No weights of its own: the projections of the mechanism do the work."""

    value = "multiplicative"  # the contextual value that goes with it (section IV-E)

    def __init__(self, heads: int, features: int, context: bool):
        super().__init__()

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return dp(query, key)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return tdp(query, key, context, has_context)

    def factors(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Factors:
        """What `three` multiplies and sums over the features."""
        return query, key, with_neutral(context, has_context, 1.0)
