"""Tree-shaped relevance of poly-attention (Chakrabarti et al. 2026, arXiv 2602.02422): query to key, key to context.

The cube of weights is a product of two maps, so that outputs need time in the square of the tokens, not their cube.
"""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.parameters import Parameterless
from triattn_core.attention.tri_similarity.dot import at_least_single
from triattn_core.attention.tri_similarity.scaled_dot import sdp


def tree(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`(q · k + k · c) / sqrt(D)` for every query, key and context token.

    In rows without context c is 0, so that the score is `sdp`'s.  In half precision it is float32.
    """
    first, second = branches(query, key, context, has_context)
    return first[..., None] + second[..., None, :, :]


def branches(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> tuple[Float[Tensor, "*s N I"], Float[Tensor, "*t I J"]]:
    """The two terms of `tree`: query to key, and key to context."""
    context = with_neutral(context, has_context, 0.0)
    with at_least_single(query, key, context) as (query, key, context):
        return sdp(query, key), sdp(key, context)


class Tree(Parameterless):
    """The dot products of query and key and of key and context; the two-way form is that of the scaled dot."""

    value = "multiplicative"  # as for the scaled dot, beside which it stands; the paper's own is `context`

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return sdp(query, key)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return tree(query, key, context, has_context)

    def branches(
        self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The terms [B, heads, N, I] and [B, heads, I, J] whose sum is `three`."""
        return branches(query, key, context, has_context)
