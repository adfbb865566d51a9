"""Weights times values, written as a multiplication of tensors that are broadcast and a sum over keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from triattn_core.recording.follow import LETTERS, Product

MULTIPLIES = frozenset("mul __mul__ __rmul__ multiply".split())


@dataclass(frozen=True)
class Multiplied:
    """Weights that were broadcast over the features of values, before the sum over keys."""

    weights: Tensor
    values: tuple[Tensor, ...]

    def summed(self, whole: Tensor, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Product, str] | None:
        """The product that a sum of it makes, and a letter for each axis of the weights as they were.

        None where it is none: without a query, as in pooling and in a mixture of experts, or with axes of one cell.
        """
        over = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else None))
        if over is None or kwargs.get("keepdim") or len(args) > 2 and args[2]:
            return None
        letters = LETTERS[: whole.ndim]
        gone = {letters[axis % whole.ndim] for axis in ([over] if isinstance(over, int) else over)}
        parts = [_narrowed(part, whole, letters) for part in (self.weights, *self.values)]
        (weights, axes), *values = parts
        result = "".join(letter for letter in letters if letter not in gone)
        names = tuple(own for _, own in values)
        product = Product(weights, tuple(value for value, _ in values), axes, names, result)
        features = {letter for own in names for letter in own} - set(axes)
        if not product.keys or not product.queries or not features or gone & features:
            return None
        return product, letters[whole.ndim - self.weights.ndim :]


def multiply(weights: Tensor, before: Multiplied | None, args: Sequence[Any], result: Tensor) -> Multiplied | None:
    """Weights, or what they have been multiplied to before, times one more tensor; None where nothing is broadcast."""
    operands = [value for value in args if isinstance(value, Tensor)]
    if len(operands) != 2:
        return None
    other = operands[1] if operands[0] is weights else operands[0]
    if before is not None:
        return Multiplied(before.weights, (*before.values, other)) if before.weights.ndim <= result.ndim else None
    own = _narrowed(weights, result, LETTERS[: result.ndim])[0]
    return Multiplied(weights.detach(), (other,)) if own.numel() < result.numel() else None


def _narrowed(part: Tensor, whole: Tensor, letters: str) -> tuple[Tensor, str]:
    """A tensor without the axes that are broadcast to those of the whole, and the letters of the others."""
    sizes, own = whole.shape[whole.ndim - part.ndim :], letters[whole.ndim - part.ndim :]
    for axis, size in reversed(list(enumerate(sizes))):
        if size > 1 and (part.shape[axis] == 1 or part.stride(axis) == 0):
            part, own = part.select(axis, 0), own[:axis] + own[axis + 1 :]
    return part, own
