"""Follow the result of a softmax to its product with values: there its shape is the true one, and it is attention.

A softmax that never meets values is a router of experts, a gate or a vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from triattn_core.recording.module_stack import Running

# What leaves weights what they are: another shape, type or place, cells set to zero, a scale.
KEEPS = frozenset(
    "to type float double half bfloat16 type_as cpu cuda contiguous clone detach view reshape unflatten flatten view_as"
    " transpose permute swapaxes swapdims movedim mT T t unsqueeze squeeze expand expand_as repeat repeat_interleave"
    " broadcast_to __getitem__ narrow select slice index_select chunk split unbind dropout dropout_ dropout2d"
    " masked_fill masked_fill_ where nan_to_num nan_to_num_ mul __mul__ __rmul__ div __truediv__ mul_ pad alpha_dropout"
    " __get__ feature_dropout nan_to_num_ adjoint tril triu zero_ squeeze_ unsqueeze_".split()
)
PRODUCTS = frozenset("matmul __matmul__ __rmatmul__ bmm mm mv baddbmm einsum".split())


@dataclass(frozen=True, eq=False)
class Softmax:
    """A softmax that has run: where, over which axis of what shape; scores: what it took, if they are kept.

    hidden: the cells of the first row of a batch and head that its mask hides.
    """

    running: Running
    shape: tuple[int, ...]
    axis: int
    scores: Tensor | None = field(default=None, repr=False)
    hidden: Tensor | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Product:
    """Weights times values, as an einsum over the axes of both.

    equation: axis names of the weights, of the values and of the result.
    """

    weights: Tensor
    values: tuple[Tensor, ...]
    axes: str
    value_axes: tuple[str, ...]
    result_axes: str

    @property
    def keys(self) -> str:
        """The axes of the weights that are summed over."""
        return "".join(axis for axis in self.axes if axis not in self.result_axes)

    @property
    def cells(self) -> int:
        """How many cells of the weights a row of the result is the sum over."""
        sizes = dict(zip(self.axes, self.weights.shape))
        return math.prod(sizes[axis] for axis in self.keys)

    @property
    def queries(self) -> str:
        """The axes of the weights that the values do not have."""
        values = "".join(self.value_axes)
        return "".join(axis for axis in self.axes if axis in self.result_axes and axis not in values)

    @property
    def equation(self) -> str:
        return f"{','.join((self.axes, *self.value_axes))}->{self.result_axes}"


LETTERS = "abcdefghijklmnop"


def read_product(name: str, args: Sequence[Any], weights: Tensor) -> Product | None:
    """The product of a call `matmul(weights, values)`, `bmm`, `baddbmm` or `einsum`; None for any other form."""
    if name == "einsum":
        return _read_einsum(args, weights)
    operands = [value for value in args if isinstance(value, Tensor)][-2:]
    if name == "__rmatmul__":
        operands.reverse()
    if len(operands) != 2 or any(operand.ndim < 2 for operand in operands):
        return None
    place = 0 if operands[0] is weights else 1
    values = operands[1 - place]
    count = max(weights.ndim, values.ndim) - 2
    lead = LETTERS[:count]
    here, there = lead[count - weights.ndim + 2 :], lead[count - values.ndim + 2 :]
    if place == 0:
        return Product(weights, (values,), here + "xy", (there + "yz",), lead + "xz")
    return Product(weights, (values,), here + "yx", (there + "zy",), lead + "zx")


def _read_einsum(args: Sequence[Any], weights: Tensor) -> Product | None:
    if not args or not isinstance(args[0], str):
        return None
    operands = list(args[1]) if len(args) == 2 and isinstance(args[1], list | tuple) else list(args[1:])
    terms, arrow, result = args[0].replace(" ", "").partition("->")
    inputs = terms.split(",")
    if not arrow or len(inputs) != len(operands):
        return None
    named = {letter for letter in args[0] if letter.isalpha()}
    free = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in named]
    widths = [
        operand.ndim - len(term.replace("...", "")) if "..." in term else 0 for term, operand in zip(inputs, operands)
    ]
    lead = "".join(free[: max(widths)])
    inputs = [term.replace("...", lead[len(lead) - width :]) for term, width in zip(inputs, widths)]
    place = next(i for i, operand in enumerate(operands) if operand is weights)
    if len(set(inputs[place])) != len(inputs[place]):
        return None
    others = [i for i in range(len(operands)) if i != place]
    values = tuple(operands[i] for i in others)
    return Product(weights, values, inputs[place], tuple(inputs[i] for i in others), result.replace("...", lead))
