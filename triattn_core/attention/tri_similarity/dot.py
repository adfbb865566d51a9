"""Dot-product relevance: DP and T-dot-product (Tri-Attention, Eqs. 7 and 11)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.factored import Factors
from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.parameters import Parameterless


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
    In half precision it is float32: see `at_least_single`.
    """
    context = with_neutral(context, has_context, 1.0)
    with at_least_single(query, key, context) as (query, key, context):
        pairs = query[..., :, None, :] * key[..., None, :, :]
        return (pairs.flatten(-3, -2) @ context.mT).unflatten(-2, pairs.shape[-3:-1])


@contextmanager
def at_least_single(*factors: Tensor) -> Iterator[list[Tensor]]:
    """The factors in at least float32, without autocast: products of three exceed float16's 65,504 easily."""
    with torch.autocast(factors[0].device.type, enabled=False):
        yield [factor.to(torch.promote_types(factor.dtype, torch.float32)) for factor in factors]


class Dot(Parameterless):
    """The dot product of query and key; three-way the sum of products of all three."""

    value = "multiplicative"  # the paired contextual value (section IV-E)

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return dp(query, key)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return tdp(query, key, context, has_context)

    def factors(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Factors:
        """The factors that `three` multiplies and sums over features."""
        return query, key, with_neutral(context, has_context, 1.0)
