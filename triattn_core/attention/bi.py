"""Bi-Attention: project, two-way relevance, softmax over keys, weighted sum (Tri-Attention, Eqs. 3 to 5)."""

from __future__ import annotations

from torch import Tensor, nn

from triattn_core.attention.instead import instead
from triattn_core.attention.similarity import SIMILARITIES
from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.states import States, join_heads, split_heads
from triattn_core.attention.tap import tap

AXES = ("head", "query", "key")


class BiAttention(nn.Module):
    """Multi-head two-way attention that leaves the context out.

    `value` is taken for the sake of a common signature and has no effect: there is no context to mix in.
    """

    reads = ""  # of the context: nothing, "own" for each token its own vector, "context" for all of it

    def __init__(self, hidden: int, heads: int, similarity: str, value: str | None = None):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.similarity = SIMILARITIES[similarity](heads, hidden // heads, context=False)

    def forward(self, query: States, key: States, context: States, site: str) -> Tensor:
        """The attended states [B, N, hidden] of the queries; taps `<site>/relevance` and `<site>/weight`."""
        return self.attend(query.vectors, key.vectors, key.keep, site)

    def attend(self, query: Tensor, key: Tensor, keep: Tensor, site: str) -> Tensor:
        """Attention of [B, N, hidden] over [B, I, hidden] with keys kept where `keep` [B, I]."""
        q, k, v = (
            split_heads(project(states), self.heads)
            for project, states in ((self.query, query), (self.key, key), (self.value, key))
        )
        relevance = self.similarity.two(q, k)
        weights = instead(f"{site}/weight", masked_softmax(relevance, keep[:, None]), {"key": keep})
        tap(f"{site}/relevance", relevance, AXES, "relevance")
        tap(f"{site}/weight", weights, AXES, "weight", ("key",))
        return join_heads(weights @ v)
