"""Tri-Attention: three-way relevance, one softmax over key x context, contextual values (Eqs. 10 to 19)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from triattn_core.attention.contextual_value import VALUES, ValueAndProduct
from triattn_core.attention.factored import product_attention
from triattn_core.attention.neutral import at_least_one
from triattn_core.attention.softmax import joint_softmax
from triattn_core.attention.states import States, join_heads, split_each
from triattn_core.attention.tap import is_tapped, tap
from triattn_core.attention.tree_attention import attend_by_tree, tree_maps
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.attention.tri_similarity.protocol import (
    ContextualValue,
    ProductSimilarity,
    ProductValue,
    Similarity,
    SumValue,
    TreeSimilarity,
)
from triattn_core.attention.weight_override import heads_output, is_overridden, override_weights
from triattn_core.inference.pause import pause
from triattn_core.trace.site import Site

LARGEST = 1 << 22  # most cells of a cube at once on a CPU: larger blocks cost a page fault per 4 KB
WORTH = 1 << 19  # cells of a batch's cubes from which on factored attention is faster
AXES = ("head", "query", "key", "context")
BY_TREE = ProductValue | SumValue | ValueAndProduct  # mixes by the two maps of a tree alone, without their cube


class TriAttention(nn.Module):
    """Multi-head three-way attention; `value` names the contextual value, by default the relevance's pairing."""

    reads = "context"
    similarity: Similarity
    mix: ContextualValue
    fixed: Callable | None = None  # as of BiAttention
    distinct = False  # whether keys and context are the same tokens, and none is paired with itself

    def __init__(self, hidden: int, heads: int, similarity: str, value: str | None = None):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.context = (nn.Linear(hidden, hidden) for _ in range(4))
        self.similarity = cast(Similarity, SIMILARITIES[similarity](heads, hidden // heads, context=True))
        self.mix = cast(ContextualValue, VALUES[value or self.similarity.value](heads, hidden // heads))
        self.vectors = self.mix.vectors

    def forward(self, query: States, key: States, context: States, site: Site) -> Tensor:
        """The attended states [B, N, vectors * hidden] of the queries; taps `<site>/relevance` and `<site>/weight`.

        If these are not recorded, a relevance made of products gives the same output without the cube.
        """
        states, keep, has_context = at_least_one(context.vectors, context.keep)
        projected = [self.query(query.vectors), self.key(key.vectors), self.value(key.vectors), self.context(states)]
        q, k, v, c = split_each(projected, self.heads)
        attended = self.attend(q, k, v, c, query.keep, key.keep, keep, has_context, site)
        return join_heads(heads_output(attended, site), self.vectors)

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        c: Tensor,
        keep_query: Tensor,
        keep_key: Tensor,
        keep_context: Tensor,
        has_context: Tensor | None,
        site: Site,
    ) -> Tensor:
        """`forward` for projected heads: [B, heads, n, D] each and keeps [B, n] → [B, heads, N, vectors * D]."""
        pause()
        needs_weights = is_tapped(site, "relevance", "weight") or is_overridden() or self.fixed is not None
        cells = q.shape[:3].numel() * k.shape[-2] * c.shape[-2]
        similarity, mix, needs_cube = self.similarity, self.mix, needs_weights or self.distinct
        if (
            not needs_cube
            and cells >= WORTH
            and isinstance(similarity, ProductSimilarity)
            and isinstance(mix, ProductValue)
        ):
            query, key, context = similarity.factors(q, k, c, has_context)
            value, context_value = mix.factors(v, c, has_context)
            return product_attention(query, key, context, value, context_value, keep_key, keep_context)
        if not needs_cube and isinstance(similarity, TreeSimilarity) and isinstance(mix, BY_TREE):
            maps = tree_maps(*similarity.branches(q, k, c, has_context), keep_key[:, None], keep_context[:, None])
            return attend_by_tree(maps, mix, v, c, has_context)
        rows = max(2, LARGEST * len(q) // max(1, cells))  # single rows would not be compiled
        if not needs_weights and rows < len(q) and q.device.type == "cpu":
            row_has_context = q.new_ones(len(q), dtype=torch.bool) if has_context is None else has_context
            parts = zip(
                *(tensor.split(rows) for tensor in (q, k, v, c, keep_query, keep_key, keep_context, row_has_context))
            )
            attend = partial(self.attend, site=site)
            return torch.cat([attend(*part) for part in parts])
        relevance = self.similarity.three(q, k, c, has_context)
        weights = joint_softmax(relevance, keep_key[:, None], keep_context[:, None], self.distinct)
        keeps = {"query": keep_query, "key": keep_key, "context": keep_context}
        weights = override_weights(site.with_quantity("weight"), weights, keeps, self.fixed)
        tap(site, relevance, AXES, "relevance")
        tap(site, weights, AXES, "weight", ("key", "context"))
        return self.mix(weights.to(v.dtype), v, c, has_context)
