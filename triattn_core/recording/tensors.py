"""The tensors in what a function is given, and in what a module returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

PROVED = 1e-5  # largest error that counts as rounding in single precision


def tensors_of(args: Any, kwargs: Any) -> Iterator[Tensor]:
    """Yields the tensors that a function is given, and those in lists that it is given."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (part for part in value if isinstance(part, Tensor))


def tensors_in(value: Any, depth: int = 4) -> Iterator[Tensor]:
    """The tensors that a module returns, in whatever holds them."""
    if isinstance(value, Tensor):
        yield value
    elif depth and isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(part, depth - 1)
    elif depth and hasattr(value, "__dict__") and not isinstance(value, type):
        yield from tensors_in(vars(value), depth - 1)


def without_numbers(value: Any) -> str:
    """Says why the numbers of a tensor cannot be read: inside `torch.vmap`, or on the meta device; else empty."""
    if not isinstance(value, Tensor):
        return ""
    while torch._C._functorch.is_functorch_wrapped_tensor(value):
        if torch._C._functorch.is_batchedtensor(value):
            return "runs inside torch.vmap, where its numbers cannot be read"
        value = torch._C._functorch.get_unwrapped(value)
    if value.is_meta or type(value).__name__ == "FakeTensor":
        return "is on the meta device and has no numbers"
    return ""
