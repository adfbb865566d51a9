"""Bi-Attention: project, two-way relevance, softmax over keys, weighted sum (Tri-Attention, Eqs. 3 to 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from torch import Tensor, nn

from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.states import States, join_heads, split_each
from triattn_core.attention.tap import NO_ROLES, tap
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.attention.tri_similarity.protocol import Similarity
from triattn_core.attention.weight_override import heads_output, override_weights
from triattn_core.inference.pause import pause
from triattn_core.trace.site import Site

AXES = ("head", "query", "key")


class BiAttention(nn.Module):
    """Multi-head two-way attention that ignores the context.

    `value` is accepted for a common signature and has no effect: there is no contextual value.
    """

    similarity: Similarity
    reads = ""  # what is read of the context: "" nothing, "own" each token's own vector, "context" all of it
    vectors = 1  # attended vectors per query, concatenated
    fixed: Callable | None = None  # of `fixed_weights.FIXED`: the weights of a control, in place of learnt ones

    def __init__(self, hidden: int, heads: int, similarity: str, value: str | None = None):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.similarity = cast(Similarity, SIMILARITIES[similarity](heads, hidden // heads, context=False))

    def forward(self, query: States, key: States, context: States, site: Site) -> Tensor:
        """The attended states [B, N, hidden] of the queries; taps `<site>/relevance` and `<site>/weight`."""
        return self.attend(query.vectors, key.vectors, query.keep, key.keep, site)

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        keep_query: Tensor,
        keep: Tensor,
        site: Site,
        roles: Mapping[str, tuple[str, ...]] = NO_ROLES,
    ) -> Tensor:
        """Attention of [B, N, hidden] over [B, I, hidden], real where `keep_query` [B, N] and `keep` [B, I].

        roles: the roles along an axis, if not just the one of its name; see `tap.TappedTensor`.
        """
        pause()
        q, k, v = split_each([self.query(query), self.key(key), self.value(key)], self.heads)
        relevance = self.similarity.two(q, k)
        weights = masked_softmax(relevance, keep[:, None])
        weights = override_weights(
            site.with_quantity("weight"), weights, {"query": keep_query, "key": keep}, self.fixed
        )
        tap(site, relevance, AXES, "relevance", roles=roles)
        tap(site, weights, AXES, "weight", ("key",), roles)
        return join_heads(heads_output(weights @ v, site))
