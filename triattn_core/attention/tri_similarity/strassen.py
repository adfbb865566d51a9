"""Relevance of Strassen attention (Kozachinskiy et al. 2025, arXiv 2501.19215): the control of third-order scores.

A cube of scores in which no term reads query, key and context at once.  What Tri-Attention has over a model trained
with these pairwise scores is what its third order is worth.
"""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.parameters import Parameterless
from triattn_core.attention.tri_similarity.dot import at_least_single
from triattn_core.attention.tri_similarity.scaled_dot import sdp


def strassen(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`(q · k + q · c + k · c) / sqrt(D)` for every query, key and context token.

    In rows without context c is 0, so that the score is `sdp`'s.
    """
    query_key, query_context, key_context = pairs(query, key, context, has_context)
    return query_key[..., :, :, None] + query_context[..., :, None, :] + key_context[..., None, :, :]


def pairs(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> tuple[Float[Tensor, "*s N I"], Float[Tensor, "*s N J"], Float[Tensor, "*s I J"]]:
    """The three terms of `strassen`: of query and key, of query and context, of key and context."""
    context = with_neutral(context, has_context, 0.0)
    with at_least_single(query, key, context) as (query, key, context):
        return sdp(query, key), sdp(query, context), sdp(key, context)


class Strassen(Parameterless):
    """The sum of the three pairs' dot products; the two-way form is that of the scaled dot."""

    value = "multiplicative"  # as for the scaled dot, whose control it is

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return sdp(query, key)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return strassen(query, key, context, has_context)
