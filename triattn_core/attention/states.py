"""Inputs of a mechanism: states of tokens or cells, which of them are real, and each one's own context vector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class States:
    """A sequence in a batch.

    vectors: [B, n, h].
    keep: [B, n] bool, True = a real token.
    own: [B, n, h], the context vector at each token's position in the joint sequence, zeros if it has none; None for
        the context itself, and for mechanisms that do not read it.
    """

    vectors: Tensor
    keep: Tensor
    own: Tensor | None = None


def split_heads(projected: Tensor, heads: int) -> Tensor:
    """[B, n, heads * D] → [B, heads, n, D], contiguous, so that cubes made from it need no copy."""
    return projected.unflatten(-1, (heads, -1)).transpose(1, 2).contiguous()


def split_each(projected: Iterable[Tensor], heads: int) -> list[Tensor]:
    """`split_heads` of several."""
    return [split_heads(tensor, heads) for tensor in projected]


def heads_first(projected: Tensor, heads: int) -> Tensor:
    """[B, n, heads * D] → [heads, B, n, D], contiguous: each head's parameters apply to all examples at once."""
    return projected.unflatten(-1, (heads, -1)).movedim(-2, 0).contiguous()


def join_heads(states: Tensor, vectors: int = 1) -> Tensor:
    """[B, heads, n, vectors * D] → [B, n, vectors * heads * D]: each vector with the features of all heads."""
    if vectors == 1:
        return states.transpose(1, 2).flatten(-2)
    return states.unflatten(-1, (vectors, -1)).permute(0, 2, 3, 1, 4).flatten(2)
