"""What an attention adds to each token: weights times transformed values, as the model's own projection sums them.

With the weights a_ij of a head, the values v_j and the block W of the output projection that meets this head,

    added_ij = sum over heads of a_ij v_j W          its norm: Kobayashi et al. 2020, Eq. 3 and 4, of all heads together

and the sum over keys j, plus the projection's bias, is what the module returns.  The projection is not known by its
name: it is the first linear map that takes the joined results of the heads, number by number.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from triattn_core.recording.ablate import is_same
from triattn_core.recording.attention import Attention
from triattn_core.recording.follow import PRODUCTS, read_product
from triattn_core.recording.layout import Layout
from triattn_core.recording.module_stack import ModuleStack
from triattn_core.recording.rebuild import FusedCall, heads_of, repeat_heads
from triattn_core.recording.tape import Tape
from triattn_core.recording.watch import Watch
from triattn_core.trace.site import Site

CELLS = 20_000_000  # numbers of added vectors that are held at once


@dataclass(frozen=True, eq=False)
class Added:
    """One attention with the projection after it, of one example.

    weights: [head, query, key].  values: [head, key, d].  projection: [head, d, width].  bias: [width] or None.
    output: [query, width], what the projection returned.
    """

    weights: Tensor = field(repr=False)
    values: Tensor = field(repr=False)
    projection: Tensor = field(repr=False)
    bias: Tensor | None = field(repr=False)
    output: Tensor = field(repr=False)

    def norms(self) -> Tensor:
        """Returns the lengths [query, key] of what each key adds to each query, all heads together."""
        transformed = transform_values(self.values, self.projection)
        return added_norms(self.weights, transformed)

    def sums(self) -> Tensor:
        """Returns [query, width]: what all keys add, and the bias; equal to `output`."""
        total = torch.einsum("hnm,hme->ne", self.weights, transform_values(self.values, self.projection))
        return total if self.bias is None else total + self.bias


def transform_values(values: Tensor, projection: Tensor) -> Tensor:
    """Returns the values [head, key, d] through their head's block of a projection [head, d, width]: [head, key,
    width]."""
    return torch.einsum("hmd,hde->hme", values, projection)


def added_norms(weights: Tensor, transformed: Tensor) -> Tensor:
    """Returns the lengths [query, key] of the sums over heads of weights [head, query, key] times transformed values
    [head, key, width] (Kobayashi et al. 2020, Eq. 4), some queries at a time."""
    rows = max(1, CELLS // (transformed.shape[1] * transformed.shape[2]))
    parts = (torch.einsum("hnm,hme->nme", part, transformed).norm(dim=-1) for part in weights.split(rows, 1))
    return torch.cat(list(parts))


@dataclass(frozen=True)
class AddedTape:
    """What `record_added` found: the attentions in `tape`, and of those whose projection was seen what they add."""

    tape: Tape
    added: dict[int, Added]

    def by_site(self) -> dict[Site, Added]:
        """Returns what each attention adds, by its site.  Raises TraceError where there was no attention."""
        found = {site: self.added.get(id(attention)) for site, attention in self.tape.sites().items()}
        return {site: added for site, added in found.items() if added is not None}


@contextmanager
def record_added(model: nn.Module) -> Iterator[AddedTape]:
    """Records the attentions that `model` runs inside the block, of the first example, and what they add.

    An attention whose joined heads no linear map takes as they are, such as one with a gate between, has weights and
    no `Added`.

    >>> import torch
    >>> model, states = torch.nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 5, 8)
    >>> with record_added(model) as tape:
    ...     output, _ = model(states, states, states)
    >>> [added] = tape.by_site().values()
    >>> added.norms().shape, bool(torch.allclose(added.sums(), output[0], atol=1e-6))
    (torch.Size([5, 5]), True)
    """
    stack = ModuleStack(model)
    watch = _Adding(stack, lambda path: True)
    with stack.following(watch, watch.selects, watch.reach.see_return, again=True):
        yield AddedTape(Tape(model, watch.found, stack), watch.added)


class _Adding(Watch):
    """A watch that also keeps the values of each attention until the projection takes them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.added: dict[int, Added] = {}
        self._waiting: tuple[Attention, Tensor, Tensor] | None = None  # with the values, and the result of each head

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, known = kwargs or {}, len(self.found)
        result = super().__torch_function__(func, types, args, kwargs)
        name = getattr(func, "__name__", "")
        with torch._C.DisableTorchFunction(), torch.no_grad():
            if name in ("linear", "addmm") and self._waiting is not None:
                self._see_projection(name, args, kwargs, result)
            elif len(self.found) > known and (name in PRODUCTS or name == "scaled_dot_product_attention"):
                attention = self.found[-1]
                self._waiting = (
                    (attention, *parts) if (parts := _parts(name, args, kwargs, attention, result)) else None
                )
        return result

    def _see_projection(self, name: str, args: Any, kwargs: Any, result: Tensor) -> None:
        """Keeps what is added, where the input of a linear map is the joined results of the heads that wait."""
        taken = args[0] if name == "linear" else args[1]
        matrix = kwargs.get("weight", args[1] if len(args) > 1 else None) if name == "linear" else args[2].T
        bias = (kwargs.get("bias", args[2] if len(args) > 2 else None)) if name == "linear" else args[0]
        assert self._waiting is not None
        attention, values, made = self._waiting
        heads, rows, size = made.shape
        joined = made.transpose(0, 1).flatten(1)
        if matrix is None or taken.shape[-1] != heads * size or taken.shape[:-1].numel() % rows:
            return
        input_rows, output_rows = taken.flatten(0, -2)[:rows], result.flatten(0, -2)[:rows]
        if not torch.equal(input_rows, joined):
            return
        projection = matrix.detach().T.unflatten(0, (heads, size)).float()
        own = None if bias is None else bias.detach().float()
        weights = attention.arranged().float()
        self.added[id(attention)] = Added(weights, values.float(), projection, own, output_rows.float())
        self._waiting = None


def _parts(name: str, args: Any, kwargs: Any, attention: Attention, result: Tensor) -> tuple[Tensor, Tensor] | None:
    """The values [head, key, d] and the results [head, query, d] of an attention; None for another form of product."""
    if name == "scaled_dot_product_attention":
        call = FusedCall(*args, **kwargs)
        batch = call.query.shape[0] if call.query.ndim == 4 else 1
        value = repeat_heads(call.value, call.group)
        return heads_of(value, batch, 0).detach(), heads_of(result, batch, 0).detach()
    layout = attention.layout
    weights = next((value for value in _flat([*args, *kwargs.values()]) if is_same(value, attention.weights)), None)
    product = None if weights is None else read_product(name, [*args, *kwargs.values()], weights)
    if product is None or len(product.values) != 1 or layout.dims != ("head", "query", "key") or layout.blocks:
        return None
    letters = product.value_axes[0]
    own = [letter for letter in letters if letter not in product.axes]
    if len(own) != 1 or layout.key not in letters:
        return None
    parts = []
    for axes, first, tensor in ((letters, layout.key, product.values[0]), (product.result_axes, layout.query, result)):
        row = layout.batch if layout.batch in axes else ""
        parts.append(Layout(axes, first, own[0], batch=row).arrange(tensor.detach(), attention.batch, 0))
    heads = attention.arranged().shape[0]
    return (parts[0], parts[1]) if parts[0].shape[0] == parts[1].shape[0] == heads else None


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value
