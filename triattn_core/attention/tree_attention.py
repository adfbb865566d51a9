"""Outputs of Tri-Attention with tree-shaped relevance, in time and memory of two maps (Chakrabarti et al. 2026, arXiv
2602.02422)."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.contextual_value import ValueAndProduct
from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.tri_similarity.protocol import ProductValue, SumValue


def tree_maps(
    first: Float[Tensor, "*b N I"],
    second: Float[Tensor, "*b I J"],
    keep_key: Bool[Tensor, "*m I"],
    keep_context: Bool[Tensor, "*m J"],
) -> tuple[Float[Tensor, "*b N I"], Float[Tensor, "*b I J"]]:
    """Two maps whose product `A[n,i] B[i,j]` is the softmax of `first[n,i] + second[i,j]` over all kept (i, j).

    B is the softmax of `second` over context, A that of `first` over keys, each key's score raised by the log-sum-exp
    of its row of `second`.  A query with nothing to attend to gets zeros.
    """
    kept = second.masked_fill(~keep_context[..., None, :], -torch.inf)
    totals = kept.logsumexp(-1)
    first = first + torch.where(keep_context.any(-1, keepdim=True), totals, 0.0)[..., None, :]
    return masked_softmax(first, keep_key), masked_softmax(second, keep_context)


def tree_products(
    first: Float[Tensor, "*b N I"],
    second: Float[Tensor, "*b I J"],
    value: Float[Tensor, "*b I D"],
    context_value: Float[Tensor, "*b J D"],
) -> Float[Tensor, "*b N D"]:
    """`sum_ij A[n,i] B[i,j] (v_i * c_j)` of the maps of `tree_maps` (Tri-Attention, Eqs. 17 and 19)."""
    return first @ (value * (second @ context_value))


def tree_sums(
    first: Float[Tensor, "*b N I"],
    second: Float[Tensor, "*b I J"],
    value: Float[Tensor, "*b I D"],
    context_value: Float[Tensor, "*b J D"],
) -> Float[Tensor, "*b N D"]:
    """`sum_ij A[n,i] B[i,j] (v_i + c_j)` of the maps of `tree_maps` (Tri-Attention, Eqs. 16 and 19)."""
    return first @ (value + second @ context_value)


def attend_by_tree(
    maps: tuple[Tensor, Tensor],
    mix: ProductValue | SumValue | ValueAndProduct,
    value: Tensor,
    context: Tensor,
    has_context: Tensor | None,
) -> Tensor:
    """The maps of `tree_maps` over contextual values of value [B, heads, I, D] and context [B, heads, J, D]
    → [B, heads, N, vectors * D]."""
    first, second = (weights.to(value.dtype) for weights in maps)
    if isinstance(mix, ValueAndProduct):
        return tree_products(first, second, *mix.doubled(value, context, has_context))
    if isinstance(mix, ProductValue):
        return tree_products(first, second, *mix.factors(value, context, has_context))
    return tree_sums(first, second, *mix.terms(value, context, has_context))
