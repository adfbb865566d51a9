"""Bi-Attention: project, two-way relevance, softmax over keys, weighted sum (Tri-Attention, Eqs. 3 to 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor, nn

from triattn_core.attention.similarity import SIMILARITIES
from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.states import States, join_heads, split_heads
from triattn_core.attention.tap import NO_ROLES, tap
from triattn_core.attention.weight_override import instead
from triattn_core.inference.pause import pause

AXES = ("head", "query", "key")


class BiAttention(nn.Module):
    """Multi-head two-way attention that leaves the context out.

    `value` is taken for the sake of a common signature and has no effect: there is no context to mix in.
    """

    reads = ""  # of the context: nothing, "own" for each token its own vector, "context" for all of it
    vectors = 1  # attended vectors that a query gets, side by side
    fixed: Callable | None = None  # of `fixed_weights.FIXED`: what a control attends with in place of its own weights

    def __init__(self, hidden: int, heads: int, similarity: str, value: str | None = None):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.similarity = SIMILARITIES[similarity](heads, hidden // heads, context=False)

    def forward(self, query: States, key: States, context: States, site: str) -> Tensor:
        """The attended states [B, N, hidden] of the queries; taps `<site>/relevance` and `<site>/weight`."""
        return self.attend(query.vectors, key.vectors, query.keep, key.keep, site)

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        keep_query: Tensor,
        keep: Tensor,
        site: str,
        roles: Mapping[str, tuple[str, ...]] = NO_ROLES,
    ) -> Tensor:
        """Attention of [B, N, hidden] over [B, I, hidden], real where `keep_query` [B, N] and `keep` [B, I].

        roles: what stands along an axis, where it is not the one role of its name; see `tap.Tapped`.
        """
        pause()
        q, k, v = (
            split_heads(project(states), self.heads)
            for project, states in ((self.query, query), (self.key, key), (self.value, key))
        )
        relevance = self.similarity.two(q, k)
        weights = masked_softmax(relevance, keep[:, None])
        weights = instead(f"{site}/weight", weights, {"query": keep_query, "key": keep}, self.fixed)
        tap(f"{site}/relevance", relevance, AXES, "relevance", roles=roles)
        tap(f"{site}/weight", weights, AXES, "weight", ("key",), roles)
        return join_heads(weights @ v)
