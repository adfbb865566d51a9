"""Models of *which two numbers make this one?*: the attention itself is the answer.

Query is the number made, keys and context are the numbers of the problem; the weights of the heads, averaged, are the
probabilities of the pairs.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention.softmax import joint_softmax, masked_softmax
from triattn_core.attention.states import split_heads
from triattn_core.attention.tap import tap
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.attention.tri_similarity.protocol import Similarity
from triattn_core.configs.operands import OperandsConfig
from triattn_core.inference.number_batch import NumberBatch, pair_logits
from triattn_core.models.number_vectors import Numbers
from triattn_core.models.operation_reader import OperationReader
from triattn_core.trace.site import Site


class SelfAttention(nn.Module):
    """Two-way self-attention and a token-wise network, each added to what it reads; taps `<site>/weight`."""

    def __init__(self, config: OperandsConfig):
        super().__init__()
        hidden, self.heads = config.hidden, config.heads
        self.norm, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.project, self.join = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.widen, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)

    def forward(self, states: Tensor, keep: Tensor) -> Tensor:
        """[B, n, hidden], real where `keep` [B, n] → the same."""
        q, k, v = (split_heads(part, self.heads) for part in self.project(self.norm(states)).chunk(3, -1))
        weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, keep[:, None])
        states = states + self.join((weights @ v).transpose(1, 2).flatten(-2))
        return states + self.narrow(gelu(self.widen(self.norm2(states))))


class OperandsModel(nn.Module):
    """Log-probabilities [B, pairs] of the pairs of `tasks.operands`, of a model with `operation` then those of the
    operations; taps the weights that the former are.

    Of `tri`, `layer.<before>/a_over_b/…` is a cube; of the others the first and the second operand have a map each,
    `layer.<before>/a_over_b/…` and `layer.<before>/a_over_c/…`.  frozen: see `Numbers`.
    """

    similarity: Similarity

    def __init__(self, config: OperandsConfig, frozen: int = 0):
        super().__init__()
        hidden, self.config = config.hidden, config
        self.numbers = Numbers(config.hidden, config.inputs, frozen)
        self.before = nn.ModuleList(SelfAttention(config) for _ in range(config.before))
        self.query, self.key, self.context = (nn.Linear(hidden, hidden) for _ in range(3))
        if config.mechanism != "tri":
            self.query2 = nn.Linear(hidden, hidden)
        three = config.mechanism == "tri"
        built = SIMILARITIES[config.similarity](config.heads, hidden // config.heads, context=three)
        self.similarity = cast(Similarity, built)
        if config.operation != "none":
            self.operation = OperationReader(hidden, config.operation)

    def forward(self, batch: NumberBatch) -> Tensor:
        """Log-probabilities [B, pairs], or [B, pairs + operations]."""
        if self.config.operation == "none":
            return pair_logits(self.cells(batch))
        cells, operations = self.cells_and_operations(batch)
        return torch.cat([pair_logits(cells), operations], -1)

    def cells(self, batch: NumberBatch) -> Tensor:
        """The probability of each ordered pair [B, n, n], zero on the diagonal; both orders of a pair count."""
        return self._attend(batch, *self.numbers(batch))

    def cells_and_operations(self, batch: NumberBatch) -> tuple[Tensor, Tensor]:
        """`cells`, and log-probabilities [B, operations], read from the numbers before any layer through the cells."""
        made, numbers = self.numbers(batch)
        cells = self._attend(batch, made, numbers)
        return cells, self.operation(made, numbers, cells)

    def _attend(self, batch: NumberBatch, made: Tensor, numbers: Tensor) -> Tensor:
        if self.before:
            states = torch.cat([made, numbers], 1)
            keep = torch.cat([torch.ones_like(batch.keep[:, :1]), batch.keep], 1)
            for layer in self.before:
                states = layer(states, keep)
            made, numbers = states[:, :1], states[:, 1:]
        if self.config.mechanism == "cbi":
            real = batch.keep[..., None]
            mean = (numbers * real).sum(1, keepdim=True) / real.sum(1, keepdim=True)
            made, numbers = made + mean, numbers + mean
        heads, place = self.config.heads, Site(layer=self.config.before)
        q, k, c = (
            split_heads(project(states), heads)
            for project, states in ((self.query, made), (self.key, numbers), (self.context, numbers))
        )
        if self.config.mechanism == "tri":
            relevance = self.similarity.three(q, k, c)
            weights = joint_softmax(relevance, batch.keep[:, None], batch.keep[:, None], distinct=True)
            tap(place / "a_over_b", relevance, ("head", "query", "key", "context"), "relevance")
            tap(place / "a_over_b", weights, ("head", "query", "key", "context"), "weight", ("key", "context"))
            return weights.mean(1)[:, 0]
        maps = []
        q2 = split_heads(self.query2(made), heads)
        for role, queries, keys in (("a_over_b", q, k), ("a_over_c", q2, c)):
            relevance = self.similarity.two(queries, keys)
            weights = masked_softmax(relevance, batch.keep[:, None])
            tap(place / role, relevance, ("head", "query", "key"), "relevance")
            tap(place / role, weights, ("head", "query", "key"), "weight", ("key",))
            maps.append(weights[:, :, 0])
        return products_of(*maps)


def products_of(first: Tensor, second: Tensor) -> Tensor:
    """Two distributions a head [B, heads, n] → the pairs of two different positions [B, n, n].

    A head's pair has the product of its two weights, over what pairs of different positions have together; heads are
    averaged after, so that several heads may hold several pairs.
    """
    cells = first[..., :, None] * second[..., None, :]
    cells = cells * ~torch.eye(cells.shape[-1], dtype=torch.bool, device=cells.device)
    return (cells / cells.sum((-2, -1), keepdim=True).clamp(min=1e-9)).mean(1)
