"""Which axes of a tensor are those that a softmax ran over, while the model reshapes, permutes and slices it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# What gives another view of a tensor; all else that is followed keeps its axes, at most with new ones before them.
VIEWS = frozenset(
    "view reshape reshape_as unflatten flatten view_as transpose permute swapaxes swapdims movedim t unsqueeze squeeze"
    " expand expand_as broadcast_to __getitem__ narrow select slice chunk split unbind __get__ adjoint".split()
)
Axes = frozenset[int] | None  # None: not known


def carried_axes(func: Any, args: Any, kwargs: Any, source: Tensor, result: Any, axes: Axes) -> list[Axes]:
    """Returns the axes of each tensor of a result that the given axes of its source became.

    A view is made again of a tensor without numbers: the strides of what it returns say from which axes each axis is.
    """
    parts = list(result) if isinstance(result, list | tuple) else [result]
    if axes is None:
        return [None] * len(parts)
    name = getattr(func, "__name__", "")
    if name in VIEWS:
        return _viewed(func, args, kwargs, source, axes, len(parts))
    return [_below_new_ones(source, part, axes) for part in parts]


def _below_new_ones(source: Tensor, part: Any, axes: frozenset[int]) -> Axes:
    """The axes where new ones may stand before the old ones, as after broadcasting and `repeat`."""
    if not isinstance(part, Tensor) or part.ndim < source.ndim:
        return None
    return frozenset(axis + part.ndim - source.ndim for axis in axes)


def _viewed(func: Callable, args: Any, kwargs: Any, source: Tensor, axes: frozenset[int], count: int) -> list[Axes]:
    twin = torch.empty(source.shape, device="meta")
    given = [twin if value is source else value for value in args]
    named = {key: twin if value is source else value for key, value in kwargs.items()}
    index = given[1] if len(given) > 1 and isinstance(given[1], tuple) else given[1:]
    if getattr(func, "__name__", "") == "__getitem__" and any(isinstance(part, Tensor | list) for part in index):
        return [None] * count  # a copy in another order
    try:
        made = func(*given, **named)
    except Exception:  # a call that needs numbers
        return [None] * count
    views = list(made) if isinstance(made, list | tuple) else [made]
    if len(views) != count or not all(isinstance(view, Tensor) for view in views):
        return [None] * count
    ranges = [(source_stride(source.shape, axis), source.shape[axis]) for axis in axes]
    found = []
    for view in views:
        own = {
            place
            for place, (size, stride) in enumerate(zip(view.shape, view.stride()))
            if size > 1 and any(stride < start * length and start < stride * size for start, length in ranges)
        }
        found.append(frozenset(own) or None)
    return found


def source_stride(shape: torch.Size, axis: int) -> int:
    """Returns how many numbers of a contiguous tensor lie between two neighbours along an axis."""
    return shape[axis + 1 :].numel()
