"""Scaled dot-product relevance: SDP and T-scaled-dot-product (Tri-Attention, Eqs. 8 and 12)."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.factored import Factors
from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.tri_similarity.dot import Dot, dp, tdp


def sdp(query: Float[Tensor, "*q N D"], key: Float[Tensor, "*k I D"]) -> Float[Tensor, "*s N I"]:
    """`q · k / sqrt(D)` for every query and key (Eq. 8)."""
    return dp(query, key) / query.shape[-1] ** 0.5


def tsdp(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`sum_d q_d k_d c_d / sqrt(D)` for every query, key and context token (Eq. 12)."""
    return tdp(query, key, context, has_context) / query.shape[-1] ** 0.5


class ScaledDot(Dot):
    """The dot product over the root of the features."""

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return sdp(query, key)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return tsdp(query, key, context, has_context)

    def factors(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Factors:
        """The factors that `three` multiplies and sums over features; the scale is in the query's."""
        return query / query.shape[-1] ** 0.5, key, with_neutral(context, has_context, 1.0)
