"""What a mechanism asks of a similarity and of a contextual value."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from triattn_core.attention.factored import Factors


class Similarity(Protocol):
    """value: name of the contextual value that the paper pairs it with."""

    value: str

    def two(self, query: Tensor, key: Tensor) -> Tensor:
        """[B, heads, N, D], [B, heads, I, D] → relevances [B, heads, N, I]."""

    def three(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """The same with context [B, heads, J, D] → [B, heads, N, I, J]."""


@runtime_checkable
class ProductSimilarity(Similarity, Protocol):
    """A similarity whose `three` is a sum of products."""

    def factors(self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None) -> Factors:
        """Three factors whose products sum to `three`."""


@runtime_checkable
class TreeSimilarity(Similarity, Protocol):
    """A similarity whose `three` is a sum of a term of query and key and one of key and context."""

    def branches(
        self, query: Tensor, key: Tensor, context: Tensor, has_context: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The terms [B, heads, N, I] and [B, heads, I, J]."""


class ContextualValue(Protocol):
    """vectors: how many vectors of the head's size an attended state has."""

    vectors: int

    def __call__(self, weights: Tensor, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> Tensor:
        """Weights [B, heads, N, I, J] over values [B, heads, I, D] and context [B, heads, J, D]
        → [B, heads, N, vectors * D]."""


@runtime_checkable
class ProductValue(ContextualValue, Protocol):
    """A contextual value that is a product."""

    def factors(self, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Two factors whose product is the value of a pair."""


@runtime_checkable
class SumValue(ContextualValue, Protocol):
    """A contextual value that is a sum."""

    def terms(self, value: Tensor, context: Tensor, has_context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Two terms whose sum is the value of a pair."""
