"""See every softmax and every scaled dot-product attention that a model runs, while a block lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.attention import Attention
from triattn_core.recording.difference import Differences
from triattn_core.recording.follow import (
    JOINS,
    KEEPS,
    MIXES,
    PRODUCTS,
    Product,
    Softmax,
    Trail,
    dropout_rate,
    read_product,
)
from triattn_core.recording.layout import Layout, count_windows, find_layout
from triattn_core.recording.module_stack import ModuleStack, Running
from triattn_core.recording.open_function import open_function
from triattn_core.recording.packed import PackedHeads
from triattn_core.recording.reach import Followed
from triattn_core.recording.rebuild import (
    FusedCall,
    count_to_a_key,
    fused_group,
    heads_of,
    hidden_cells,
    is_hidden,
    marks_of,
    product_error,
    rebuild_weights,
    relative_error,
    repeat_heads,
    row_of_example,
)
from triattn_core.recording.script import FUSED, WHOLE, ScriptOperations, fused_call, open_whole, without_modes
from triattn_core.recording.softmax_axis import carried_axes
from triattn_core.recording.tensors import tensors_of
from triattn_core.recording.unseen import Scores

UNKNOWN_BATCH = 1


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
        if name == "softmax":
            self._see_softmax(running, args, kwargs, result)
        elif name == FUSED:
            self._see_fused(running, FusedCall(*args, **kwargs), result)
        elif name in WHOLE:
            self._see_whole(running, kwargs, result)
        elif name == "flex_attention" and isinstance(result, tuple):
            self._see_flex(running, func, args, result[0])
        elif self.followed and name in KEEPS:
            if "dropout" in name and args and args[0] in self.followed:
                self.stack.dropped = max(self.stack.dropped, dropout_rate(args, kwargs))
            self._see_change(func, args, kwargs, result)
        elif self.followed and name in MIXES:
            self._see_mix(args, result)
        elif self.followed and name in PRODUCTS:
            self._see_product(name, args, kwargs, result)
        elif name in JOINS:
            self._see_join(running, JOINS[name], args, result)
        if isinstance(result, Tensor) and result not in self.followed and "softmax" not in name:
            self.scores.see(name, running, args, kwargs, result)

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
                cells = row_of_example(scores, self._batch, self.example)
                hidden = is_hidden(cells) if cells.dtype.is_floating_point else None
            elif axis % result.ndim == result.ndim - 2 and scores.dtype.is_floating_point:
                hidden = is_hidden(row_of_example(scores, self._batch, self.example).mT).mT
        kept = scores.detach() if self.keep_scores else None
        softmax = Softmax(running, tuple(result.shape), axis % result.ndim, kept, hidden)
        self.followed[result] = Trail(softmax, frozenset({softmax.axis}) if softmax.columns > 1 else None)

    def _see_change(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        source = next((tensor for tensor in tensors_of(args, kwargs) if tensor in self.followed), None)
        if source is None:
            return
        trail = self.followed[source]
        with torch._C.DisableTorchFunction(), torch.no_grad():
            axes = carried_axes(func, args, kwargs, source, result, trail.axes)
            if trail.softmax.parts and isinstance(result, Tensor):
                trail = replace(trail, softmax=trail.softmax.viewed(func, args, kwargs, source))
        for part, own in zip(result if isinstance(result, list | tuple) else (result,), axes):
            if isinstance(part, Tensor):
                self.followed[part] = replace(trail, axes=own)

    def _see_mix(self, args: Any, result: Any) -> None:
        """The maps of heads times a matrix, as a linear map or a convolution over the axis of the heads."""
        source = args[0] if args and isinstance(args[0], Tensor) and args[0] in self.followed else None
        if source is None or not isinstance(result, Tensor) or source.ndim != result.ndim:
            return
        trail = self.followed[source]
        if trail.axes and all(source.shape[axis] == result.shape[axis] for axis in trail.axes):
            changed = [axis for axis in range(source.ndim) if source.shape[axis] != result.shape[axis]]
            if source.ndim - 1 in trail.axes and len(args[1].shape) == 2 or len(changed) > 1:
                return  # weights times a matrix that is learned
            self._follow_mixed(trail, source, result, trail.axes)

    def _follow_mixed(self, trail: Trail, part: Tensor, result: Tensor, axes: frozenset[int]) -> None:
        softmax = replace(trail.softmax, kind="mixed", parts=trail.softmax.parts or (part.detach(),))
        self.followed[result] = Trail(softmax, axes)

    def _see_join(self, running: Running, kind: str, args: Any, result: Any) -> None:
        """Two maps that are joined before they meet the values, or what two attentions made of them."""
        operands = [value for value in args if isinstance(value, Tensor)]
        if len(operands) != 2 or not isinstance(result, Tensor):
            return
        followed = [operand for operand in operands if operand in self.followed]
        if len(followed) == 2:
            if operands[0].shape == operands[1].shape == result.shape:
                parts = tuple(operand.detach() for operand in operands)
                trail = self.followed[operands[0]]
                self.followed[result] = replace(trail, softmax=replace(trail.softmax, kind=kind, parts=parts))
        elif followed and followed[0].shape == result.shape:
            self.followed[result] = self.followed[followed[0]]
        elif kind == "difference":
            with torch._C.DisableTorchFunction(), torch.no_grad():
                found = self.differences.find(running, args, result, self.example)
            self.found += [] if found is None else [found]

    def _see_product(self, name: str, args: Any, kwargs: Any, result: Tensor) -> None:
        weights = next((t for t in tensors_of(args, kwargs) if t in self.followed), None)
        if weights is None:
            return
        trail, softmax = self.followed[weights], self.followed[weights].softmax
        with torch._C.DisableTorchFunction(), torch.no_grad():
            product = read_product(name, [*args, *kwargs.values()], weights)
            if product is None or not product.keys or not product.has_query:
                return
            over = {product.axes[axis] for axis in trail.axes or ()}
            columns = trail.softmax.columns
            by_query = bool(over) and not over & set(product.keys)
            if by_query and product.mixes_heads(over, columns, self._batch):
                return self._see_mixed_product(trail, product, over, result)
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
        self.differences.see_product(seen, product)

    def _layout(self, product: Product, columns: int, over: set[str]) -> Layout:
        """The layout of weights whose softmax ran over `columns` cells along the axes `over`."""
        stack = self.stack
        layout = find_layout(product, columns, self._batch, stack.length, stack.pairs, over, stack.lengths)
        if stack.scripted and len(over) > 1 and product.cells_of(over) > columns:
            return replace(layout, in_pieces=True)  # queries and contexts on one axis, as einsum lays them out
        return layout

    def _group(self, product: Product, layout: Layout) -> int:
        """How many heads share the values of a map."""
        if len(product.values) != 1 or len(layout.dims) != 3 or not product.weights.numel():
            return 1
        values = product.values[0], product.value_axes[0]
        return layout.heads_to_a_key(product.weights, *values, self._batch, self.example)

    def _see_mixed_product(self, trail: Trail, product: Product, over: set[str], result: Tensor) -> None:
        """Maps of heads that a product mixes: followed on, in the order of the axes of the result."""
        made = product.result_axes
        axes = frozenset(made.index(letter) for letter in over if letter in made)
        new = [letter for letter in made if letter not in product.axes]
        if len(axes) < len(over) or len(new) != 1 or len(product.keys) != 1:
            return
        order = [product.axes.index(product.keys if letter in new else letter) for letter in made]
        self._follow_mixed(trail, product.weights.permute(order), result, axes)

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

    def _see_flex(self, running: Running, func: Any, args: Any, result: Tensor) -> None:
        """Flex attention, which forms scores by a function: given one-hot values, what it returns is its weights."""
        query, key, value = args[:3]
        batch, example, m = self._batch, self.example, key.shape[-2]
        with torch._C.DisableTorchFunction(), torch.no_grad():
            one_hot = torch.eye(m, dtype=value.dtype, device=value.device).expand(*value.shape[:-2], m, m).contiguous()
            weights = heads_of(func(query, key, one_hot, *args[3:])[0], batch, example).float()
            heads = weights.shape[0]
            values = heads_of(value, batch, example)
            group = count_to_a_key(heads, heads_of(key, batch, example), values)
            rebuilt = weights @ repeat_heads(values, heads // values.shape[0]).float()
            made = heads_of(result, batch, example)
            error, hidden = relative_error(rebuilt, made), (weights == 0).all(0)
        layout = Layout("hnm", "n", "m")
        common = (running, "flex", weights, layout, error, m, batch, example, hidden, None, group)
        self.found.append(Attention(*common, precision=made.dtype, marks=marks_of(value, batch)))


def _common(running: Running, stack: ModuleStack) -> Running:
    """The innermost module that ran from the softmax to the product."""
    return running if running in stack.running else (stack.innermost or running)
