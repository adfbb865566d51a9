"""How far what an attention made of the values goes: through which functions, into what which module returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.attention import Attention, Reach
from triattn_core.recording.module_stack import ModuleStack, Running


class Followed:
    """Tensors that attentions went into, while the outermost module runs."""

    def __init__(self, stack: ModuleStack):
        self.stack = stack
        self.made: Any = WeakTensorKeyDictionary()  # tensors, to a bit for each attention that went into them
        self.reaches: list[tuple[Reach, str]] = []

    def add(self, attention: Attention, made: Tensor) -> None:
        """Begins to follow what an attention made."""
        self.made[made] = self.made.get(made, 0) | 1 << len(self.reaches)
        self.reaches.append((attention.reach, attention.running.path))

    def carry(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """Follows on into what a function made of tensors that are followed, or wrote them into."""
        if not self.made:
            return
        bits = 0
        for tensor in tensors_of(args, kwargs):
            bits |= self.made.get(tensor, 0)
        if not bits:
            return
        changed = [args[0]] if args and (name == "__setitem__" or name.endswith("_")) else []
        for tensor in tensors_of([result, *changed, kwargs.get("out")], {}):
            base = tensor._base if changed else None  # what is written into a part of a tensor is in the whole
            for part in (tensor, base):
                if part is not None:
                    self.made[part] = self.made.get(part, 0) | bits

    def see_return(self, running: Running, output: Any) -> None:
        """Takes what a module returns: the attentions inside it that went into it have come so far."""
        if not self.made:
            return
        bits = 0
        for tensor in _tensors_in(output):
            bits |= self.made.get(tensor, 0)
        inside = running.path + "." * bool(running.path)
        for number, (reach, path) in enumerate(self.reaches):
            if bits >> number & 1 and (path == running.path or path.startswith(inside)):
                reach.path = running.path
        if not self.stack.running:
            self.made.clear()
            self.reaches.clear()


def tensors_of(args: Any, kwargs: Any) -> Iterator[Tensor]:
    """Yields the tensors that a function is given, and those in lists that it is given."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (part for part in value if isinstance(part, Tensor))


def _tensors_in(value: Any, depth: int = 4) -> Iterator[Tensor]:
    """The tensors that a module returns, in whatever holds them."""
    if isinstance(value, Tensor):
        yield value
    elif depth and isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _tensors_in(part, depth - 1)
    elif depth and hasattr(value, "__dict__") and not isinstance(value, type):
        yield from _tensors_in(vars(value), depth - 1)
