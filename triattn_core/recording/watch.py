"""See every softmax and every scaled dot-product attention that a model runs, while a block lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from triattn_core.recording.attention import Attention
from triattn_core.recording.difference import Differences
from triattn_core.recording.flex import read_flex
from triattn_core.recording.follow import (
    COLLECTS,
    JOINS,
    KEEPS,
    MIXES,
    VALUE_PRODUCTS,
    Product,
    Softmax,
    Trail,
    dropout_rate,
    read_product,
    without_added,
)
from triattn_core.recording.layout import Layout, count_windows, find_layout
from triattn_core.recording.module_stack import ModuleStack, Running
from triattn_core.recording.open_function import open_function
from triattn_core.recording.packed import PackedHeads
from triattn_core.recording.reach import Followed
from triattn_core.recording.rebuild import (
    FusedCall,
    fused_group,
    hidden_cells,
    is_hidden,
    marks_of,
    product_error,
    rebuild_weights,
    row_of_example,
)
from triattn_core.recording.script import FUSED, WHOLE, ScriptOperations, fused_call, open_whole, without_modes
from triattn_core.recording.softmaxes import AXES, Softmaxes
from triattn_core.recording.tensors import tensors_of, without_numbers
from triattn_core.recording.trails import WRITES, Trails
from triattn_core.recording.unseen import Scores

UNKNOWN_BATCH = 1
HIGHER = "attends to three tokens or more at once, of which a recorder has no axes (`trace_of` takes such an array)"
FOLLOWED = KEEPS | MIXES | VALUE_PRODUCTS | WRITES | COLLECTS | {"sum"}


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
        self.trails, self.softmaxes = Trails(), Softmaxes()
        self.followed = self.trails.followed
        self.reach, self.scores = Followed(self.stack), Scores(self.stack)
        self.batch: int | None = None
        self.differences, self.packed = Differences(), PackedHeads()
        self.operations = ScriptOperations(self.stack, self.see_operation)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.stack.scripted is None:
            return self._run(func, args, kwargs or {})
        with self.operations.pause():  # a function that TorchScript calls is seen here
            return self._run(func, args, kwargs or {})

    def _run(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        name = getattr(func, "__name__", "")
        if name == "multi_head_attention_forward":
            with self._inside_multi_head(args), self:
                return open_function(func)(*args, **kwargs)
        result, running = func(*args, **kwargs), self.stack.innermost
        if running is None or not self.selects(running.path):
            return result
        if reason := without_numbers(result):
            if name in AXES or name == FUSED:
                self.stack.unread[running.path] = reason
            return result
        if name in ("linear", "layer_norm") and args and len(args[0].shape) > 3:
            self.stack.see_pairs(args[0].shape)
        self._take(func, name, running, args, kwargs, result)
        return result

    def see_operation(self, func: Any, name: str, args: Any, kwargs: dict[str, Any], running: Running) -> Any:
        """Runs an operation inside TorchScript, and takes what it says of an attention."""
        result = func(*args, **kwargs)
        if self.selects(running.path):
            with without_modes(), torch.no_grad():
                made = result[0] if name in (FUSED, "dropout", *WHOLE) and isinstance(result, tuple) else result
                given = vars(fused_call(kwargs)) if name == FUSED else kwargs
                self._take(func, name, running, args, given, made)
        return result

    def _take(self, func: Any, name: str, running: Running, args: Any, kwargs: Any, result: Any) -> None:
        self.reach.carry(name, func, args, kwargs, result)
        self.packed.see(name, args, result)
        known = self.found[-1] if self.found else None
        self._see(func, name, running, args, kwargs, result)
        made = result[0] if isinstance(result, tuple) and result else result
        if self.found and self.found[-1] is not known and isinstance(made, Tensor):
            self.reach.add(self.found[-1], made)

    def _see(self, func: Any, name: str, running: Running, args: Any, kwargs: Any, result: Any) -> None:
        """Takes what a call of a function says of an attention."""
        if (softmax := self.softmaxes.see(name, args, kwargs, result)) is not None:
            self._see_softmax(running, *softmax, result)
        elif name == FUSED:
            self._see_fused(running, FusedCall(*args, **kwargs), result)
        elif name in WHOLE:
            self._see_whole(running, kwargs, result)
        elif name == "flex_attention" and isinstance(result, tuple):
            self.found.append(read_flex(running, func, args, result[0], self._batch, self.example))
        elif self.trails and name in FOLLOWED:
            self._see_followed(func, name, args, kwargs, result)
        elif name in JOINS:
            self._see_join(running, JOINS[name], args, result)
        known = isinstance(result, Tensor) and (result in self.followed or result in self.softmaxes.logarithms)
        if isinstance(result, Tensor) and not known:
            self.scores.see(name, running, args, kwargs, result)

    def _see_followed(self, func: Any, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """Takes a call that may change weights, or have them meet values."""
        if name in KEEPS:
            if "dropout" in name and args and args[0] in self.followed:
                self.stack.dropped = max(self.stack.dropped, dropout_rate(args, kwargs))
            self.trails.see_change(func, name, args, kwargs, result)
        elif name in WRITES or name in COLLECTS:
            self.trails.see_written(name, args, kwargs, result)
        elif name == "sum":
            if (read := self.trails.read_sum(args, kwargs)) is not None:
                self._take_product(*read, result)
        elif (name == "conv2d" or not self._see_product(name, args, kwargs, result)) and name in MIXES:
            self.trails.see_mix(args, result)

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

    def _see_softmax(self, running: Running, scores: Tensor | None, axis: Any, result: Tensor) -> None:
        if result.ndim < 2 or not isinstance(axis, int):
            return
        with torch._C.DisableTorchFunction(), torch.no_grad():
            hidden = None
            if scores is None:
                pass
            elif axis % result.ndim == result.ndim - 1:
                cells = row_of_example(scores, self._batch, self.example)
                hidden = is_hidden(cells) if cells.dtype.is_floating_point else None
            elif axis % result.ndim == result.ndim - 2 and scores.dtype.is_floating_point:
                hidden = is_hidden(row_of_example(scores, self._batch, self.example).mT).mT
        kept = scores.detach() if self.keep_scores and scores is not None else None
        call = self.scores.see_softmax(running, scores, result, axis)
        softmax = Softmax(running, tuple(result.shape), axis % result.ndim, kept, hidden, calls=frozenset({call}))
        self.followed[result] = Trail(softmax, frozenset({softmax.axis}) if softmax.columns > 1 else None)

    def _see_join(self, running: Running, kind: str, args: Any, result: Any) -> None:
        """Two maps that are joined before they meet the values, or what two attentions made of them."""
        operands = [value for value in args if isinstance(value, Tensor)]
        if len(operands) != 2 or not isinstance(result, Tensor):
            return
        if not self.trails.see_join(kind, operands, result) and kind == "difference":
            with torch._C.DisableTorchFunction(), torch.no_grad():
                found = self.differences.find(running, args, result, self.example)
            self.found += [] if found is None else [found]

    def _see_product(self, name: str, args: Any, kwargs: Any, result: Tensor) -> bool:
        """Takes a product of weights with values.  Returns whether it could be read."""
        weights = next((t for t in tensors_of(args, kwargs) if t in self.followed), None)
        if weights is None:
            return False
        with torch._C.DisableTorchFunction(), torch.no_grad():
            product = read_product(name, [*args, *kwargs.values()], weights)
            if product is None:
                return False
            result = without_added(name, args, kwargs, result)
        trail = self.followed[weights]
        self._take_product(trail, product, {product.axes[axis] for axis in trail.axes or ()}, result)
        return True

    def _take_product(self, trail: Trail, product: Product, over: set[str], result: Tensor) -> None:
        """Keeps the attention that a product is.  over: the axes of the weights that their softmax ran over."""
        if not product.keys or not product.has_query:
            return
        softmax, weights = trail.softmax, product.weights
        with torch._C.DisableTorchFunction(), torch.no_grad():
            columns = trail.softmax.columns
            by_query = bool(over) and not over & set(product.keys)
            if by_query and product.mixes_heads(over, columns, self._batch):
                return self._see_mixed_product(trail, product, over, result)
            if len(product.keys) > 2:
                self.stack.unread[softmax.running.path] = HIGHER
                return
            columns = product.cells if by_query else columns
            layout = self._layout(product, columns, over)
            if not layout.blocks and product.cells > columns:
                return  # weights laid out by relative position, which meet vectors of positions
            layout = replace(layout, sums_over=("query",)) if by_query else layout
            error = product_error(product, weights.detach(), result)
            group, marks = self._group(product, layout), layout.marks(product, self._batch)
        seen = Attention(
            _common(softmax.running, self.stack),
            softmax.kind,
            weights.detach(),
            layout,
            error,
            columns,
            self._batch,
            self.example,
            softmax.hidden,
            softmax.scores,
            group,
            count_windows(product, layout, self._batch),
            softmax=softmax,
            precision=result.dtype,
            made=product.result_axes,
            marks=marks,
        )
        for part in softmax.parts:
            if part.ndim == seen.weights.ndim and sum(map(int.__ne__, part.shape, seen.weights.shape)) < 2:
                self.found.append(replace(seen, kind="part", weights=part, scores=None, softmax=None))
        self.found.append(seen)
        self.scores.see_arrival(softmax.calls)
        self.differences.see_product(seen, product)

    def _layout(self, product: Product, columns: int, over: set[str]) -> Layout:
        """The layout of weights whose softmax ran over `columns` cells along the axes `over`."""
        stack = self.stack
        layout = find_layout(product, columns, self._batch, stack.length, stack.pairs, over, stack.lengths)
        if stack.scripted and len(over) > 1 and product.cells_of(over) > columns:
            return replace(layout, in_pieces=True)  # queries and contexts on one axis, as einsum lays them out
        return layout

    def _group(self, product: Product, layout: Layout) -> int:
        """How many heads share the values of a map, or both values of a cube."""
        if not product.values or not product.weights.numel():
            return 1
        values = zip(product.values, product.value_axes)
        return min(layout.heads_to_a_key(product.weights, *own, self._batch, self.example) for own in values)

    def _see_mixed_product(self, trail: Trail, product: Product, over: set[str], result: Tensor) -> None:
        """Maps of heads that a product mixes: followed on, in the order of the axes of the result."""
        made = product.result_axes
        axes = frozenset(made.index(letter) for letter in over if letter in made)
        new = [letter for letter in made if letter not in product.axes]
        if len(axes) < len(over) or len(new) != 1 or len(product.keys) != 1:
            return
        order = [product.axes.index(product.keys if letter in new else letter) for letter in made]
        self.trails.follow_mixed(trail, product.weights.permute(order), result, axes)

    def _is_within_tokens(self, call: FusedCall) -> bool:
        """Whether each token attends alone, to other states of itself: its rows are then the batch times the tokens.

        A decoder with one token has as many rows by chance, but its keys are itself or the tokens.
        """
        rows, tokens = call.query.shape[:-2].numel(), self.stack.length
        alone = tokens > 1 and call.query.shape[-2] == 1 and rows == self._batch * tokens
        return alone and call.key.shape[-2] not in (1, tokens)

    def _see_whole(self, running: Running, given: dict[str, Any], result: Tensor) -> None:
        weights, hidden, error = open_whole(given, result, self.example)
        common = (running, "sdpa", weights, Layout("hnm", "n", "m"), error, weights.shape[-1])
        self.found.append(Attention(*common, hidden=hidden, precision=result.dtype))

    def _see_fused(self, running: Running, call: FusedCall, result: Tensor) -> None:
        if call.query.is_nested or self._is_within_tokens(call):
            return
        with torch._C.DisableTorchFunction(), torch.no_grad():
            call, result = self.packed.unpacked(call, result)
            weights, error = rebuild_weights(call, result, self._batch, self.example)
            hidden = hidden_cells(call, self._batch, self.example)
            group = fused_group(call, self._batch, self.example)
            marks = marks_of(call.value, self._batch)
        self.stack.dropped = max(self.stack.dropped, float(call.dropout_p))
        seen = Attention(
            running,
            "sdpa",
            weights,
            Layout("hnm", "n", "m"),
            error,
            weights.shape[-1],
            self._batch,
            self.example,
            hidden=hidden,
            group=group,
            windows=call.windows(self._batch),
            precision=result.dtype,
            marks=marks,
        )
        self.found.append(seen)
        self.differences.see_fused(seen, call.value, call.group, self._batch, self.example)


def _common(running: Running, stack: ModuleStack) -> Running:
    """The innermost module that ran from the softmax to the product."""
    return running if running in stack.running else (stack.innermost or running)
