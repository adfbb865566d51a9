"""How far what an attention made of the values goes: through which functions, into what which module returns."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.attention import Attention, Reach
from triattn_core.recording.module_stack import ModuleStack, Running
from triattn_core.recording.overwritten import Rows
from triattn_core.recording.tensors import tensors_in, tensors_of


class Followed:
    """Tensors that attentions went into, while the outermost module runs."""

    def __init__(self, stack: ModuleStack):
        self.stack = stack
        self.made: Any = WeakTensorKeyDictionary()  # tensors, to a bit for each attention that went into them
        self.reaches: list[tuple[Reach, str]] = []
        self.rows = Rows()

    def add(self, attention: Attention, made: Tensor) -> None:
        """Begins to follow what an attention made."""
        self.made[made] = self.made.get(made, 0) | 1 << len(self.reaches)
        self.reaches.append((attention.reach, attention.running.path))
        self.rows.add(attention, made)

    def carry(self, name: str, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Follows on into what a function made of tensors that are followed, or wrote them into."""
        if not self.made:
            return
        bits = 0
        for tensor in tensors_of(args, kwargs):
            bits |= self.made.get(tensor, 0)
        if not bits:
            return
        self.rows.carry(name, func, args, kwargs, result)
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
        bits, returned = 0, list(tensors_in(output))
        self.rows.see_return(running.path, returned)
        for tensor in returned:
            bits |= self.made.get(tensor, 0)
        inside = running.path + "." * bool(running.path)
        for number, (reach, path) in enumerate(self.reaches):
            if bits >> number & 1 and (path == running.path or path.startswith(inside)):
                reach.path = running.path
        if not self.stack.running:
            self.rows.end()
            self.made.clear()
            self.reaches.clear()
