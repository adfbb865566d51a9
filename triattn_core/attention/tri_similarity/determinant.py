"""Determinant relevance of 2-simplicial attention (Clift et al. 2019, arXiv 1909.00668; Roy et al. 2025, arXiv
2507.02754, Eq. 8)."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.factored import Factors
from triattn_core.attention.parameters import Parameterless
from triattn_core.attention.tri_similarity.dot import tdp
from triattn_core.attention.tri_similarity.scaled_dot import sdp


def determinant(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`sum_b det[q_b, k_b, c_b] / sqrt(D)` over blocks of three features, for every query, key and context token.

    A rotation of all three tokens' blocks leaves it as it is.  Features left over after the last block add their
    product `q_d k_d c_d`, as in the package `simplicial-attention`.  A determinant has no neutral element: in rows
    without context the score is `sdp`'s.  In half precision it is float32: see `at_least_single`.
    """
    scores = tdp(*cross_factors(query, key, context)) / query.shape[-1] ** 0.5
    if has_context is None:
        return scores
    rows = has_context.reshape(has_context.shape + (1,) * (scores.ndim - has_context.ndim))
    return torch.where(rows, scores, sdp(query, key)[..., None].to(scores.dtype))


def cross_factors(query: Tensor, key: Tensor, context: Tensor) -> Factors:
    """[.., n, D] of each → [.., n, 2 D']: factors whose products sum to the determinants, as `q · (k × c)`.

    D' is D without the D mod 3 features left over, which are one factor each and not two.
    """
    rest = query.shape[-1] % 3
    whole = query.shape[-1] - rest
    (q, k, c), rests = zip(*((vectors[..., :whole], vectors[..., whole:]) for vectors in (query, key, context)))
    return (
        torch.cat([q, -q, rests[0]], -1),
        torch.cat([_turn(k, 1), _turn(k, 2), rests[1]], -1),
        torch.cat([_turn(c, 2), _turn(c, 1), rests[2]], -1),
    )


def _turn(vectors: Tensor, places: int) -> Tensor:
    """Each block of three features, turned to the left."""
    return vectors.unflatten(-1, (-1, 3)).roll(-places, -1).flatten(-2)


class Determinant(Parameterless):
    """The signed determinant of blocks of three features; the two-way form is that of the scaled dot."""

    value = "multiplicative"  # as of 2-simplicial attention

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return sdp(query, key)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return determinant(query, key, context, has_context)
