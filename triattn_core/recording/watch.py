"""See every softmax and every scaled dot-product attention that a model runs, while a block lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.follow import KEEPS, PRODUCTS, Product, Softmax, read_product
from triattn_core.recording.layout import Layout, find_layout
from triattn_core.recording.module_stack import ModuleStack, Running
from triattn_core.recording.rebuild import FusedCall, hidden_cells, is_hidden, product_error, rebuild_weights

UNKNOWN_BATCH = 1


@dataclass(frozen=True, eq=False)
class Attention:
    """One attention that was seen.

    weights: as they met the values; `layout` tells their axes.  kind: `softmax` or `sdpa`.
    error: of weights times values against what the model made of them, as a share of the largest number there.
    columns: how many cells the softmax ran over: more than the weights have where it took sinks, which are dropped.
    hidden: the cells that the mask hides from the first head; None where there is no mask.
    group: how many heads share a key head.  softmax: the one that several attentions may be parts of.
    """

    running: Running
    kind: str
    weights: Tensor
    layout: Layout
    error: float
    columns: int
    batch: int = 1
    example: int = 0
    hidden: Tensor | None = None
    scores: Tensor | None = None
    group: int = 1
    softmax: Softmax | None = field(default=None, repr=False)

    def arranged(self) -> Tensor:
        """The weights [head, query, key] or [head, query, key, context] of the example."""
        return self.layout.arrange(self.weights, self.batch, self.example)


@dataclass
class Watch(TorchFunctionMode):
    """The function mode: `found` has the attentions in the order in which they ran.

    Calls are passed on as they came: what the model computes does not change by a bit.
    """

    stack: ModuleStack
    selects: Callable[[str], bool]
    example: int = 0
    keep_scores: bool = False
    found: list[Attention] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.followed: Any = WeakTensorKeyDictionary()
        self.batch: int | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "multi_head_attention_forward":
            with self._inside_multi_head(args), self:
                return open_function(func)(*args, **kwargs)
        result = func(*args, **kwargs)
        running = self.stack.innermost
        if running is None or not self.selects(running.path):
            return result
        if name == "softmax":
            self._see_softmax(running, args, kwargs, result)
        elif name == "scaled_dot_product_attention":
            self._see_fused(running, args, kwargs, result)
        elif self.followed and name in KEEPS:
            self._see_change(args, kwargs, result)
        elif self.followed and name in PRODUCTS:
            self._see_product(name, args, kwargs, result)
        return result

    @contextmanager
    def _inside_multi_head(self, args: Any) -> Iterator[None]:
        """Inside, the batch is that of `multi_head_attention_forward`, whose query is [n, batch, d] or [n, d]."""
        query = args[0] if args else None
        self.batch = query.shape[1] if isinstance(query, Tensor) and query.ndim == 3 else 1
        try:
            yield
        finally:
            self.batch = None

    @property
    def _batch(self) -> int:
        return self.batch or self.stack.batch or UNKNOWN_BATCH

    def _see_softmax(self, running: Running, args: Any, kwargs: Any, result: Tensor) -> None:
        scores = args[0] if args else kwargs.get("input")
        axis = kwargs.get("dim", args[1] if len(args) > 1 and isinstance(args[1], int) else -1)
        if not isinstance(scores, Tensor) or result.ndim < 2 or axis is None:
            return
        with torch._C.DisableTorchFunction(), torch.no_grad():
            hidden = None
            if axis % result.ndim == result.ndim - 1:
                cells = scores[(0,) * (scores.ndim - 2)]
                hidden = is_hidden(cells) if cells.dtype.is_floating_point else None
        kept = scores.detach() if self.keep_scores else None
        self.followed[result] = Softmax(running, tuple(result.shape), axis % result.ndim, kept, hidden)

    def _see_change(self, args: Any, kwargs: Any, result: Any) -> None:
        source = next((self.followed[t] for t in _tensors(args, kwargs) if t in self.followed), None)
        if source is not None:
            for part in result if isinstance(result, list | tuple) else (result,):
                if isinstance(part, Tensor):
                    self.followed[part] = source

    def _see_product(self, name: str, args: Any, kwargs: Any, result: Tensor) -> None:
        weights = next((t for t in _tensors(args, kwargs) if t in self.followed), None)
        if weights is None:
            return
        softmax = self.followed[weights]
        with torch._C.DisableTorchFunction(), torch.no_grad():
            product = read_product(name, [*args, *kwargs.values()], weights)
            if product is None or not product.keys or not _is_attention(product):
                return
            layout = find_layout(product, softmax.shape[softmax.axis], self._batch, self.stack.length)
            if not layout.blocks and product.cells > softmax.shape[softmax.axis]:
                return  # weights laid out by relative position, which meet vectors of positions
            error = product_error(product, weights.detach(), result)
        self.found.append(
            Attention(
                _common(softmax.running, self.stack),
                "softmax",
                weights.detach(),
                layout,
                error,
                softmax.shape[softmax.axis],
                self._batch,
                self.example,
                softmax.hidden,
                softmax.scores,
                softmax=softmax,
            )
        )

    def _is_within_tokens(self, call: FusedCall) -> bool:
        """Whether each token attends alone, to other states of itself: its rows are then the batch times the tokens.

        A decoder with one token has as many rows by chance, but its keys are itself or the tokens.
        """
        rows, tokens = call.query.shape[:-2].numel(), self.stack.length
        alone = tokens > 1 and call.query.shape[-2] == 1 and rows == self._batch * tokens
        return alone and call.key.shape[-2] not in (1, tokens)

    def _see_fused(self, running: Running, args: Any, kwargs: Any, result: Tensor) -> None:
        call = FusedCall(*args, **kwargs)
        if call.query.is_nested or self._is_within_tokens(call):
            return
        with torch._C.DisableTorchFunction(), torch.no_grad():
            weights, error = rebuild_weights(call, result, self._batch, self.example)
            hidden = hidden_cells(call)
        layout = Layout("hnm", "n", "m")
        group = call.group
        self.found.append(
            Attention(running, "sdpa", weights, layout, error, weights.shape[-1], 1, 0, hidden, None, group)
        )


@lru_cache
def open_function(function: Any) -> Callable:
    """A copy of a function of `torch.nn.functional` that hands its inner calls, and not itself, to a function mode."""
    names = {**function.__globals__, "has_torch_function": lambda tensors: False}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def _tensors(args: Any, kwargs: Any) -> Iterator[Tensor]:
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (part for part in value if isinstance(part, Tensor))


def _is_attention(product: Product) -> bool:
    """Whether a query takes part: a map of one column that values stand before weighs a kernel of a convolution."""
    rest = [size for axis, size in zip(product.axes, product.weights.shape) if axis not in product.keys]
    return bool(rest) and not (product.axes[-1] not in product.keys and product.weights.shape[-1] == 1)


def _common(running: Running, stack: ModuleStack) -> Running:
    """The innermost module that ran from the softmax to the product."""
    return running if running in stack.running else (stack.innermost or running)
