"""See into a function of `torch.nn.functional` that a function mode is handed as a whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any


@lru_cache
def open_function(function: Any) -> Callable:
    """A copy of a function of `torch.nn.functional` that hands its inner calls, and not itself, to a function mode."""
    names = {**function.__globals__, "has_torch_function": lambda tensors: False}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
