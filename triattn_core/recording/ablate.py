"""Switch off heads of a model while it runs, another one in each row of a batch: what the head adds is zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from triattn_core.errors import InputError
from triattn_core.recording.attention import Attention
from triattn_core.recording.follow import VALUE_PRODUCTS
from triattn_core.recording.layout import Layout
from triattn_core.recording.module_stack import ModuleStack
from triattn_core.recording.watch import Watch

Place = tuple[str, int, int]  # of an attention: module, visit, and number among the attentions of the visit


@contextmanager
def ablate_heads(model: nn.Module, parts: Sequence[tuple[Place, int]]) -> Iterator[None]:
    """Inside, row i of a batch is computed without head `parts[i]`: an attention, as `Tape.places` has it, and a head.

    The weights of the head are zero where they meet the values, after dropout and whatever else the model does to them.
    Raises InputError where a part did not run, or its rows cannot be told apart.
    """
    ablation = _Ablation(ModuleStack(model), parts)
    with ablation.stack.following(ablation, ablation.selects):
        yield
    if missing := set(range(len(parts))) - ablation.done:
        (module, _, _), head = parts[min(missing)]
        raise InputError(f"head {head + 1} of {module} cannot be ablated: it did not run here")


class _Ablation(Watch):
    """A watch that keeps nothing, and changes the weights that it sees."""

    def __init__(self, stack: ModuleStack, parts: Sequence[tuple[Place, int]]):
        modules = tuple({module for (module, _, _), _ in parts})
        inside = tuple(module + "." * bool(module) for module in modules)
        super().__init__(stack, lambda path: path in modules or path.startswith(inside))
        self.done: set[int] = set()
        self._rows = len(parts)
        self._parts: dict[Place, list[tuple[int, int]]] = {}
        self._seen: Counter[tuple[str, int]] = Counter()
        for row, (place, head) in enumerate(parts):
            self._parts.setdefault(place, []).append((row, head))

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        before = self.found[-1] if self.found else None
        if name in VALUE_PRODUCTS and self.followed:
            result = super().__torch_function__(func, types, args, kwargs)
            heads = self._heads_after(before)
            if heads is not None:
                own, layout = self.found[-1].weights, self.found[-1].layout
                weights = own.masked_fill(self._mask(own, layout, heads), 0)
                with torch._C.DisableTorchFunction():
                    result = func(*_exchange(args, own, weights), **_exchange(kwargs or {}, own, weights))
        else:
            result = super().__torch_function__(func, types, args, kwargs)
            heads = self._heads_after(before)
            if heads is not None:
                with torch._C.DisableTorchFunction():
                    result = result.clone()
                    if name == "sum":
                        return self._without(result, self.found[-1], heads)
                    if self.found[-1].kind == "difference":  # [row, query, head, feature]
                        result = result.transpose(1, 2).contiguous()
                    by_row = result.view(self._rows, -1, *result.shape[-2:])
                    for row, head in heads:
                        by_row[row, head] = 0
                    if self.found[-1].kind == "difference":
                        result = result.transpose(1, 2)
        del self.found[:-2]  # a difference is of two
        return result

    def _heads_after(self, before: Attention | None) -> list[tuple[int, int]] | None:
        """Rows and heads to ablate of the attention that was seen after another one, if there are any."""
        if not self.found or self.found[-1] is before:
            return None
        running = self.found[-1].running
        module = (running.path, running.visit)
        heads = self._parts.get((*module, self._seen[module]))
        self._seen[module] += 1
        self.done |= {row for row, _ in heads or ()}
        return heads

    def _without(self, result: Tensor, attention: Attention, heads: Sequence[tuple[int, int]]) -> Tensor:
        """What weights times values made, with zeros for these heads."""
        axes = attention.layout.axes
        mask = self._mask(attention.weights, attention.layout, heads)
        kept = [place for place, letter in enumerate(axes) if letter in attention.made]
        mask = mask[tuple(slice(None) if place in kept else 0 for place in range(len(axes)))]
        names = [axes[place] for place in kept]
        mask = mask.permute(*(names.index(letter) for letter in attention.made if letter in names))
        for place, letter in enumerate(attention.made):
            mask = mask if letter in names else mask.unsqueeze(place)
        return result.masked_fill(mask, 0)

    def _mask(self, weights: Tensor, layout: Layout, heads: Sequence[tuple[int, int]]) -> Tensor:
        rows, numbers = layout.row_and_head(weights, self._rows)
        mask = torch.zeros((), dtype=torch.bool, device=weights.device)
        for row, head in heads:
            mask = mask | (rows == row) & (numbers == head)
        return mask


def _exchange(values: Any, own: Tensor, other: Tensor) -> Any:
    """The arguments with one tensor in place of another, which may be in a list."""
    if isinstance(values, dict):
        return {name: _exchange(value, own, other) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return type(values)(_exchange(value, own, other) for value in values)
    return other if is_same(values, own) else values


def is_same(value: Any, own: Tensor) -> bool:
    """Whether a value is the tensor that was recorded, which is detached."""
    same = isinstance(value, Tensor) and value.shape == own.shape and value.stride() == own.stride()
    return same and value.data_ptr() == own.data_ptr()
