"""Weighted sums of contextual values (Tri-Attention, Eqs. 16 to 19), and three of ours for the living form of TAN."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.parameters import matrix


def additive(
    weights: Float[Tensor, "*w N I J"],
    value: Float[Tensor, "*v I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*o N D"]:
    """`sum_ij A[n,i,j] (v_i + c_j)` (Eqs. 16 and 19), from the two marginals; c is 0 in rows without context."""
    context = with_neutral(context, has_context, 0.0)
    return weights.sum(-1) @ value + weights.sum(-2) @ context


def multiplicative(
    weights: Float[Tensor, "*w N I J"],
    value: Float[Tensor, "*v I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*o N D"]:
    """`sum_ij A[n,i,j] (v_i * c_j)` (Eqs. 17 and 19); c is 1 in rows without context."""
    context = with_neutral(context, has_context, 1.0)
    context_sums = (weights.flatten(-3, -2) @ context).unflatten(-2, weights.shape[-3:-1])
    return (context_sums * value[..., None, :, :]).sum(-2)


def bilinear(
    weights: Float[Tensor, "*w N I J"],
    value: Float[Tensor, "*v I D"],
    context: Float[Tensor, "*c J D"],
    U: Float[Tensor, "*p D D"],
    H: Float[Tensor, "*p D D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*o N D"]:
    """`sum_ij A[n,i,j] (U' v_i) * (H' c_j)` (Eqs. 18 and 19); `H' c` is 1 in rows without context.

    U and H are the paper's U' and H'; the prime there distinguishes them from those of the relevance.
    """
    return multiplicative(weights, value @ U.mT, with_neutral(context @ H.mT, has_context, 1.0))


def plain(
    weights: Float[Tensor, "*w N I J"],
    value: Float[Tensor, "*v I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*o N D"]:
    """`sum_i K[n,i] v_i` with `K[n,i] = sum_j A[n,i,j]`: the context affects the weights only (ours)."""
    return weights.sum(-1) @ value


def context_alone(
    weights: Float[Tensor, "*w N I J"],
    value: Float[Tensor, "*v I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*o N D"]:
    """`sum_ij A[n,i,j] c_j` (Chakrabarti et al. 2026, arXiv 2602.02422); in rows without context v_i stands for c_j."""
    with_context = weights.sum(-2) @ context
    if has_context is None:
        return with_context
    rows = has_context.reshape(has_context.shape + (1,) * (with_context.ndim - has_context.ndim))
    return torch.where(rows, with_context, plain(weights, value, context))


def modulated(
    weights: Float[Tensor, "*w N I J"],
    value: Float[Tensor, "*v I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*o N D"]:
    """`sum_ij A[n,i,j] v_i * (1 + c_j)` (ours); in rows without context c is 0."""
    return plain(weights, value, context) + multiplicative(weights, value, with_neutral(context, has_context, 0.0))


def value_and_product(
    weights: Float[Tensor, "*w N I J"],
    value: Float[Tensor, "*v I D"],
    context: Float[Tensor, "*c J D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*o N D2"]:
    """`sum_ij A[n,i,j] [v_i; v_i * c_j]` (ours): a token can be compared with the value besides the product."""
    return torch.cat([plain(weights, value, context), multiplicative(weights, value, context, has_context)], -1)


class Additive(nn.Module):
    """`v_i + c_j`: the pairing of T-additive."""

    vectors = 1

    def __init__(self, heads: int, features: int):
        super().__init__()

    def forward(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """[B, heads, N, I, J], [B, heads, I, D], [B, heads, J, D] → [B, heads, N, D]."""
        return additive(weights, value, context, has_context)

    def terms(self, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The two terms of a contextual value: [B, heads, I, D] and [B, heads, J, D]."""
        return value, with_neutral(context, has_context, 0.0)


class Multiplicative(nn.Module):
    """`v_i * c_j`: the pairing of T-dot-product and T-scaled-dot-product."""

    vectors = 1

    def __init__(self, heads: int, features: int):
        super().__init__()

    def forward(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """[B, heads, N, I, J], [B, heads, I, D], [B, heads, J, D] → [B, heads, N, D]."""
        return multiplicative(weights, value, context, has_context)

    def factors(self, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The two factors of a contextual value: [B, heads, I, D] and [B, heads, J, D]."""
        return value, with_neutral(context, has_context, 1.0)


class Bilinear(nn.Module):
    """`(U' v_i) * (H' c_j)`: the pairing of Trilinear. Per head: U, H `[heads, D, D]`."""

    vectors = 1

    def __init__(self, heads: int, features: int):
        super().__init__()
        self.U, self.H = matrix(heads, features, features), matrix(heads, features, features)

    def forward(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """[B, heads, N, I, J], [B, heads, I, D], [B, heads, J, D] → [B, heads, N, D]."""
        return bilinear(weights, value, context, self.U, self.H, has_context)

    def factors(self, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The two factors of a contextual value: [B, heads, I, D] and [B, heads, J, D]."""
        return value @ self.U.mT, with_neutral(context @ self.H.mT, has_context, 1.0)


class Plain(nn.Module):
    """`v_i`."""

    vectors = 1

    def __init__(self, heads: int, features: int):
        super().__init__()

    def forward(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """[B, heads, N, I, J], [B, heads, I, D], [B, heads, J, D] → [B, heads, N, D]."""
        return plain(weights, value, context, has_context)


class ContextAlone(nn.Module):
    """`c_j`: the pairing of tree-shaped relevance in poly-attention."""

    vectors = 1

    def __init__(self, heads: int, features: int):
        super().__init__()

    def forward(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """[B, heads, N, I, J], [B, heads, I, D], [B, heads, J, D] → [B, heads, N, D]."""
        return context_alone(weights, value, context, has_context)

    def terms(self, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Two terms whose sum is the contextual value: [B, heads, I, D] and [B, heads, J, D]."""
        if has_context is None:
            return torch.zeros_like(value), context
        return with_neutral(value, ~has_context, 0.0), with_neutral(context, has_context, 0.0)


class Modulated(nn.Module):
    """`v_i * (1 + c_j)`."""

    vectors = 1

    def __init__(self, heads: int, features: int):
        super().__init__()

    def forward(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """[B, heads, N, I, J], [B, heads, I, D], [B, heads, J, D] → [B, heads, N, D]."""
        return modulated(weights, value, context, has_context)


class ValueAndProduct(nn.Module):
    """`[v_i; v_i * c_j]`."""

    vectors = 2

    def __init__(self, heads: int, features: int):
        super().__init__()

    def forward(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """[B, heads, N, I, J], [B, heads, I, D], [B, heads, J, D] → [B, heads, N, 2 D]."""
        return value_and_product(weights, value, context, has_context)

    def doubled(self, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """`[v; v]` and `[1; c]`, whose product is the contextual value: [B, heads, I, 2 D] and [B, heads, J, 2 D]."""
        context = with_neutral(context, has_context, 1.0)
        return torch.cat([value, value], -1), torch.cat([torch.ones_like(context), context], -1)


VALUES = {
    "additive": Additive,
    "multiplicative": Multiplicative,
    "bilinear": Bilinear,
    "plain": Plain,
    "context": ContextAlone,
    "modulated": Modulated,
    "value_and_product": ValueAndProduct,
}
