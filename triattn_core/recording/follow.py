"""Follow the result of a softmax to its product with values: there its shape is the true one, and it is attention.

A softmax that never meets values is a router of experts, a gate or a vocabulary.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn

from triattn_core.recording.module_stack import Running
from triattn_core.recording.softmax_axis import VIEWS

# What leaves weights what they are: another shape, type or place, cells set to zero, a scale; or changes them cell by
# cell or head by head, so that the map that meets the values is another one of the same queries and keys.
KEEPS = frozenset(
    "relu clamp clamp_min clamp_max pow __pow__ sqrt square exp log neg __neg__ layer_norm batch_norm group_norm"
    " instance_norm normalize sigmoid tanh rsub __rsub__ gather roll flip "
    "to type float double half bfloat16 type_as cpu cuda contiguous clone detach view reshape unflatten flatten"
    " reshape_as view_as transpose permute swapaxes swapdims movedim mT T t unsqueeze squeeze expand expand_as"
    " repeat repeat_interleave broadcast_to __getitem__ narrow select slice index_select chunk split unbind"
    " dropout dropout_ dropout2d masked_fill masked_fill_ where nan_to_num nan_to_num_ mul __mul__ __rmul__ div"
    " __truediv__ mul_ pad alpha_dropout __get__ feature_dropout nan_to_num_ adjoint tril triu zero_ squeeze_"
    " unsqueeze_".split()
)
JOINS = {
    "sub": "difference",
    "__sub__": "difference",
    "add": "sum",
    "__add__": "sum",
}
MIXES = frozenset(("linear", "conv2d"))  # over the heads of weights: each new map is a sum of maps
PRODUCTS = frozenset("matmul __matmul__ __rmatmul__ bmm mm mv baddbmm einsum".split())
# With values that are not learned, these too.
VALUE_PRODUCTS = PRODUCTS | {"linear", "addmm", "tensordot", "linalg_multi_dot"}
COLLECTS = frozenset("cat concat concatenate stack".split())


@dataclass(frozen=True, eq=False)
class Softmax:
    """A softmax that has run: where, over which axis of what shape; scores: what it took, if they are kept.

    hidden: the cells of the first row of a batch and head that its mask hides.  kind: `difference` or `sum` where the
    model joined two maps before they met the values, `mixed` where it mixed those of the heads; parts: these maps,
    scaled as the model did.  calls: the numbers of the softmax calls that it is made of.
    """

    running: Running
    shape: tuple[int, ...]
    axis: int
    scores: Tensor | None = field(default=None, repr=False)
    hidden: Tensor | None = field(default=None, repr=False)
    kind: str = "softmax"
    parts: tuple[Tensor, ...] = field(default=(), repr=False)
    calls: frozenset[int] = frozenset()

    def viewed(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], source: Tensor) -> Softmax:
        """The same with other views of its parts, where a function gives one of the joined map, its source."""
        if getattr(func, "__name__", "") not in VIEWS:
            return self
        try:
            swapped = [[part if value is source else value for value in args] for part in self.parts]
            return replace(self, parts=tuple(func(*own, **kwargs) for own in swapped))
        except (RuntimeError, IndexError):  # parts of another number of heads
            return self

    @property
    def columns(self) -> int:
        """Over how many cells it ran."""
        return self.shape[self.axis]


@dataclass(frozen=True)
class Trail:
    """A tensor that a softmax became.  axes: those that it ran over, see `softmax_axis`."""

    softmax: Softmax
    axes: frozenset[int] | None


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
        return self.cells_of(self.keys)

    def cells_of(self, axes: Iterable[str]) -> int:
        """How many cells of the weights lie along some of their axes."""
        sizes = dict(zip(self.axes, self.weights.shape))
        return math.prod(sizes[axis] for axis in axes)

    @property
    def queries(self) -> str:
        """The axes of the weights that the values do not have."""
        values = "".join(self.value_axes)
        return "".join(axis for axis in self.axes if axis in self.result_axes and axis not in values)

    @property
    def has_query(self) -> bool:
        """Whether a query takes part: a map of one column that values stand before weighs a kernel of a convolution."""
        rest = [size for axis, size in zip(self.axes, self.weights.shape) if axis not in self.keys]
        return bool(rest) and not (self.axes[-1] not in self.keys and self.weights.shape[-1] == 1)

    def mixes_heads(self, over: set[str], columns: int, batch: int) -> bool:
        """Whether heads are summed over, not keys: a softmax ran over `columns` cells of the axes `over`, none of which
        is summed over.

        Then a query and the axis of the softmax both stay, and values have neither.  A softmax over queries leaves its
        own axis alone; where heads share the values, their axis stays too, and what is summed is one of the last two.
        """
        sizes = dict(zip(self.axes, self.weights.shape))
        first = self.axes[0]
        has_batch = sizes[first] == batch and first not in self.keys
        stays = [letter for letter in self.queries if letter not in over and not (has_batch and letter == first)]
        if self.cells_of(over) > columns:
            return True  # queries and keys on one axis
        if not stays:
            return False
        shared = [
            letter for axes in self.value_axes for letter in axes if letter in self.axes and letter not in self.keys
        ]
        square = any(sizes[letter] == sizes[other] != sizes[self.keys[0]] for letter in stays for other in over)
        return not shared or square or self.keys[0] not in self.axes[-2:]

    @property
    def equation(self) -> str:
        return f"{','.join((self.axes, *self.value_axes))}->{self.result_axes}"


def dropout_rate(args: Sequence[Any], kwargs: Mapping[str, Any]) -> float:
    """Returns the rate of a call `dropout(weights, p=0.5, training=True)`, 0 where it is off."""
    rate, on = (
        kwargs.get(key, args[place] if len(args) > place else default)
        for place, key, default in ((1, "p", 0.5), (2, "training", True))
    )
    return float(rate) if on else 0.0


LETTERS = "abcdefghijklmnop"


def read_product(name: str, args: Sequence[Any], weights: Tensor) -> Product | None:
    """The product of a call `matmul(weights, values)` or another of `VALUE_PRODUCTS`; None for any other form."""
    if name == "einsum":
        return _read_einsum(args, weights)
    if name in ("tensordot", "linalg_multi_dot"):
        return _read_tensordot(args, weights) if name == "tensordot" else _read_chain(args, weights)
    operands = [value for value in args if isinstance(value, Tensor)]
    if name == "linear":
        return _read_linear(operands, weights)
    operands = operands[-2:]
    if name == "addmm" and is_learned(operands[-1]):
        return None
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


def is_learned(tensor: Tensor) -> bool:
    """Whether a tensor is a parameter or a view of one."""
    return isinstance(tensor, nn.Parameter) or isinstance(tensor._base, nn.Parameter)


def _read_linear(operands: Sequence[Tensor], weights: Tensor) -> Product | None:
    """`linear(weights, values.T)` without a bias."""
    if len(operands) != 2 or operands[0] is not weights or operands[1].ndim != 2 or is_learned(operands[1]):
        return None
    rows = LETTERS[: weights.ndim - 1]
    return Product(weights, (operands[1],), rows + "y", ("zy",), rows + "z")


def _read_tensordot(args: Sequence[Any], weights: Tensor) -> Product | None:
    """`tensordot(weights, values, dims)`; dims: how many last and first axes, or a list of axes of each."""
    if len(args) < 2 or args[0] is not weights or not isinstance(args[1], Tensor):
        return None
    values, dims = args[1], args[2] if len(args) > 2 else 2
    if isinstance(dims, int):
        dims = list(range(weights.ndim - dims, weights.ndim)), list(range(dims))
    if isinstance(dims, Tensor) or len(dims) != 2 or not all(isinstance(own, list | tuple) for own in dims):
        return None
    axes = LETTERS[: weights.ndim]
    shared = {there % values.ndim: axes[here % weights.ndim] for here, there in zip(*dims)}
    own = [shared.get(place, letter) for place, letter in enumerate("ABCDEFGHIJ"[: values.ndim])]
    result = [letter for letter in (*axes, *own) if letter not in shared.values()]
    return Product(weights, (values,), axes, ("".join(own),), "".join(result))


def _read_chain(args: Sequence[Any], weights: Tensor) -> Product | None:
    """`linalg.multi_dot([weights, values, ...])` of matrices."""
    factors = list(args[0]) if args and isinstance(args[0], list | tuple) else []
    if len(factors) < 2 or factors[0] is not weights or any(factor.ndim != 2 for factor in factors):
        return None
    names = [LETTERS[place : place + 2] for place in range(len(factors))]
    return Product(weights, tuple(factors[1:]), names[0], tuple(names[1:]), names[0][0] + names[-1][1])


def without_added(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], result: Tensor) -> Tensor:
    """What the product alone made, of a call `addmm` or `baddbmm`, which adds something and scales both."""
    if name not in ("addmm", "baddbmm"):
        return result
    beta, alpha, added = kwargs.get("beta", 1), kwargs.get("alpha", 1), kwargs.get("input", args[0])
    return (result - beta * added if beta else result) / (alpha or 1)


def collect(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], ndim: int, trails: Sequence[Trail]
) -> Trail | None:
    """The trail of maps of heads, or of rows, that are put in one tensor; None where their keys are put one after
    another.  ndim: how many axes each of them has."""
    if any(trail.axes is None for trail in trails):
        return None
    first, stacks = trails[0], name == "stack"
    place = kwargs.get("dim", args[1] if len(args) > 1 else 0) % (ndim + stacks)
    axes = frozenset(axis + (stacks and axis >= place) for axis in first.axes or ())
    if not stacks and place in axes or any(trail.axes != first.axes for trail in trails):
        return None
    calls = frozenset(call for trail in trails for call in trail.softmax.calls)
    return Trail(replace(first.softmax, scores=None, parts=(), calls=calls), axes)


def _read_einsum(args: Sequence[Any], weights: Tensor) -> Product | None:
    if not args or not isinstance(args[0], str):
        return None
    operands = list(args[1]) if len(args) == 2 and isinstance(args[1], list | tuple) else list(args[1:])
    terms, arrow, result = args[0].replace(" ", "").partition("->")
    inputs = terms.split(",")
    if len(inputs) != len(operands):
        return None
    if not arrow:  # then the result has the letters that stand once, in the order of the alphabet
        counts = Counter(letter for letter in terms if letter.isalpha())
        result = "..." * ("..." in terms) + "".join(sorted(letter for letter in counts if counts[letter] == 1))
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
