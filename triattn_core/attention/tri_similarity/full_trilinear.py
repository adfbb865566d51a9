"""The full trilinear form (Tri-Attention, Eq. 13), with the bilinear form as its two-way part."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, einsum, nn

from triattn_core.attention.neutral import with_neutral
from triattn_core.attention.parameters import matrix
from triattn_core.attention.tri_similarity.bilinear import bili
from triattn_core.attention.tri_similarity.dot import at_least_single
from triattn_core.errors import ConfigError

WIDEST = 64  # features per head: the weight has D x D x D elements per head


def trili_full(
    query: Float[Tensor, "*q N D"],
    key: Float[Tensor, "*k I D"],
    context: Float[Tensor, "*c J D"],
    w: Float[Tensor, "*w D D D"],
    has_context: Bool[Tensor, "*b"] | None = None,
) -> Float[Tensor, "*s N I J"]:
    """`sum_{d,e,f} w[d,e,f] q_d k_e c_f` for every query, key and context token (Eq. 13).

    In rows without context c is 1, so that the score is `bili` with the matrix `sum_f w[:, :, f]`.
    """
    context = with_neutral(context, has_context, 1.0)
    with at_least_single(query, key, context, w) as (query, key, context, w):
        query_product = einsum("...nd,...def->...nef", query, w)
        return einsum("...nef,...ie,...jf->...nij", query_product, key, context)


class FullTrilinear(nn.Module):
    """Per head: w `[heads, D, D, D]`, or W `[heads, D, D]` two-way. Raises ConfigError above D = 64."""

    value = "bilinear"  # the paired contextual value (section IV-E)

    def __init__(self, heads: int, features: int, context: bool):
        super().__init__()
        if features > WIDEST:
            raise ConfigError(
                f"full_trilinear needs {features}^3 weights a head: at most {WIDEST} features a head, got {features}; "
                "use more heads, or bilinear (the economic form)"
            )
        if context:
            self.w = matrix(heads, features, features, features)
        else:
            self.W = matrix(heads, features, features)

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → [B, heads, N, I]."""
        return bili(query, key, self.W)

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""
        return trili_full(query, key, context, self.w, has_context)
