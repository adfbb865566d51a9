"""Replace the weights of chosen attentions while a model runs: what its output would be if it looked elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from triattn_core.errors import ConfigError, InputError
from triattn_core.recording.module_stack import ModuleStack
from triattn_core.recording.rebuild import FusedCall, attention_weights, repeat_heads
from triattn_core.recording.selection import Select, selector
from triattn_core.recording.watch import open_function

Change = Callable[[Tensor], Tensor]  # of weights [batch…, head, query, key] to others of the same shape
NAMED = ("even", "shuffled", "off")


@dataclass
class Replacement:
    """What a block replaced: how many softmax and fused calls, and in which modules."""

    modules: list[str] = field(default_factory=list)


@contextmanager
def replace(
    model: nn.Module, weights: Any, select: Select = None, *, heads: list[int] | None = None, seed: int = 0
) -> Iterator[Replacement]:
    """Replaces attention weights inside the block, in this thread; all else of the model runs as it is.

    weights: `even`, the same weight for every cell that the query sees; `shuffled`, each row's weights in another order
        of the cells that it sees; `off`, zeros: the head adds nothing; an array or tensor [head, query, key] or
        [query, key], such as the weights of another input; or a function of the model's weights
        [batch, head, query, key].
    select: see `selection.selector`.  heads: only these, counted from 0; None means all.  seed: of the shuffling.

    A softmax of fewer than three axes is taken for a gate or a router and left as it is; one of more axes is taken for
    attention: leave such gates out by `select`.  Fused attention (SDPA) is computed as softmax, then weights times
    values, where it is replaced, and nowhere else.
    Raises ConfigError for an unknown name, InputError for an array of another shape.

    >>> import torch
    >>> model, states = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 5, 8)
    >>> with replace(model, "off", heads=[0, 1]):
    ...     output, _ = model(states, states, states)
    >>> bool((output == model.out_proj.bias).all())
    True
    """
    if isinstance(weights, str) and weights not in NAMED:
        raise ConfigError(f"weights {weights!r}: expected {', '.join(NAMED)}, an array or a function")
    stack = ModuleStack(model)
    mode = _Replacing(stack, selector(select), _change(weights, seed), heads)
    with stack.following(), mode:
        yield mode.replaced


def even_weights(weights: Tensor) -> Tensor:
    """The same weight for every cell that is not zero; a row of zeros stays."""
    seen = (weights > 0).to(weights.dtype)
    return seen / seen.sum(-1, keepdim=True).clamp_min(1)


def shuffled_weights(weights: Tensor, seed: int) -> Tensor:
    """Each row's weights in a random order of its cells that are not zero."""
    generator = torch.Generator(weights.device).manual_seed(seed)
    noise = torch.rand(weights.shape, generator=generator, device=weights.device)
    hidden = weights <= 0
    source = noise.masked_fill(hidden, 2).argsort(-1)  # cells that are seen, in a random order
    target = hidden.to(torch.int8).argsort(stable=True, dim=-1)  # the same cells, in their own order
    return torch.zeros_like(weights).scatter(-1, target, weights.gather(-1, source))


def _change(weights: Any, seed: int) -> Change:
    if callable(weights):
        return weights
    if isinstance(weights, str):
        named: dict[str, Change] = {
            "even": even_weights,
            "shuffled": lambda own: shuffled_weights(own, seed),
            "off": torch.zeros_like,
        }
        return named[weights]
    given = torch.as_tensor(np.asarray(weights))

    def exchange(own: Tensor) -> Tensor:
        if given.shape != own.shape[own.ndim - given.ndim :]:
            expected = " × ".join(map(str, own.shape[-3:]))
            raise InputError(f"weights of shape {' × '.join(map(str, given.shape))}: this attention is {expected}")
        return given.to(own).expand_as(own)

    return exchange


class _Replacing(TorchFunctionMode):
    def __init__(self, stack: ModuleStack, selects: Callable[[str], bool], change: Change, heads: list[int] | None):
        super().__init__()
        self.stack, self.selects, self.change, self.heads = stack, selects, change, heads
        self.replaced = Replacement()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        running = self.stack.innermost
        if name == "multi_head_attention_forward":
            with self:
                return open_function(func)(*args, **kwargs)
        if running is None or name not in ("softmax", "scaled_dot_product_attention") or not self.selects(running.path):
            return func(*args, **kwargs)
        if name == "scaled_dot_product_attention":
            call = FusedCall(*args, **kwargs)
            self.replaced.modules.append(running.path)
            return self._changed(attention_weights(call)) @ repeat_heads(call.value, call.group)
        result = func(*args, **kwargs)
        if result.ndim < 3:  # a gate, a router or a vocabulary
            return result
        self.replaced.modules.append(running.path)
        return self._changed(result)

    def _changed(self, weights: Tensor) -> Tensor:
        changed = self.change(weights).to(weights.dtype)
        if self.heads is None:
            return changed
        chosen = torch.zeros(weights.shape[-3], dtype=torch.bool, device=weights.device)
        chosen[self.heads] = True
        return torch.where(chosen[:, None, None], changed, weights)
