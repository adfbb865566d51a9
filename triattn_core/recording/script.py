"""See what runs inside TorchScript, which a function mode does not: by the operations that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from weakref import WeakMethod

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import _disable_current_modes

from triattn_core.errors import TriattnError
from triattn_core.recording.module_stack import ModuleStack, Operations, Running
from triattn_core.recording.rebuild import FusedCall, rebuild_weights, relative_error

# Operations under the name of the function that does the same; others have their own.
NAMES = {
    "_softmax": "softmax",
    "_safe_softmax": "softmax",
    "_unsafe_view": "view",
    "alias": "view",
    "_to_copy": "to",
    "native_dropout": "dropout",
    "constant_pad_nd": "pad",
    "split_with_sizes": "split",
}
FUSED = "scaled_dot_product_attention"
WHOLE = ("_native_multi_head_attention", "_transformer_encoder_layer_fwd")  # one operation each

# Of an operation, as a function with a name: its arguments, its keywords and the module that runs it, what it returns.
Handle = Callable[[Any, str, Any, dict[str, Any], Running], Any]


class ScriptOperations(Operations):
    """Hands each operation to `handle`, which runs it; active while a `ScriptModule` runs, see `ModuleStack`.

    Modules inside TorchScript are not announced.  Which of them runs is told by the parameters that were read last:
    those of a leaf, such as a projection, say that the module around it runs.
    """

    def __init__(self, stack: ModuleStack, handle: Handle):
        super().__init__()
        self.stack, self.handle = stack, WeakMethod(handle)  # of the mode that has this one: no circle keeps its maps
        self.paused = False
        self._owners: dict[int, str] = {}
        self._outer: Running | None = None
        self._inner: dict[str, Running] = {}
        self._path = ""

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Inside, operations are not handed on: those of Python functions that TorchScript calls."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        outer = self.stack.innermost
        if self.paused or outer is None:
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            named = named_operation(func)
            name = named.__name__
            if name in WHOLE or name == FUSED:
                kwargs = {argument.name: value for argument, value in zip(func._schema.arguments, args)} | kwargs
                args = ()
            running = self._running(outer, [kwargs["qkv_weight"]] if name in WHOLE else args)
            self.stack.running.append(running)
            try:
                handle = self.handle()
                assert handle is not None
                return handle(named, name, args, kwargs, running)
            except TriattnError as error:
                self.raised = self.raised or error
                return func(*args, **kwargs)
            finally:
                self.stack.running.remove(running)

    def _running(self, outer: Running, args: Any) -> Running:
        """The module inside TorchScript whose parameters were read last."""
        if outer is not self._outer:
            self._outer, self._path = outer, outer.path
            self._inner = {outer.path: outer}
            self._owners = owners_of(outer)
        for value in args:
            if isinstance(value, Tensor) and not value.is_nested and value.numel():
                self._path = self._owners.get(value.data_ptr(), self._path)
        if self._path not in self._inner:
            layer = self.stack.layers.get(self._path, outer.layer)
            self._inner[self._path] = Running(self._path, outer.visit, outer.step, layer, outer.module)
        return self._inner[self._path]


def owners_of(outer: Running) -> dict[int, str]:
    """The path of the module that a parameter says to be running, by where its numbers are."""
    prefix = outer.path + "." * bool(outer.path)
    owners = {}
    for path, module in outer.module.named_modules():
        inside = path if any(True for _ in module.children()) else path.rpartition(".")[0]
        for parameter in module.parameters(recurse=False):
            owners[parameter.data_ptr()] = (prefix + inside).rstrip(".")
    return owners


@lru_cache
def named_operation(func: Any) -> Any:
    """An operation as a function under the name of the function of torch that does the same."""
    own = func.overloadpacket.__name__
    fused = own.startswith("_scaled_dot_product") and not own.endswith("backward")
    return named(func, FUSED if fused else NAMES.get(own, own))


def named(func: Any, name: str) -> Any:
    """The same function under a name."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    call.__name__ = name
    return call


def fused_call(given: dict[str, Any]) -> FusedCall:
    """The call of `scaled_dot_product_attention` that an operation, given its arguments by name, stands for."""
    mask = given.get("attn_mask", given.get("attn_bias"))
    grouped = given["query"].shape[-3] != given["key"].shape[-3]
    return FusedCall(
        given["query"],
        given["key"],
        given["value"],
        mask,
        given.get("dropout_p", 0.0),
        given.get("is_causal", False),
        given.get("scale"),
        grouped,
    )


def open_whole(given: dict[str, Any], result: Tensor, example: int) -> tuple[Tensor, Tensor | None, float]:
    """The weights [h, n, m] of one example inside an operation of `WHOLE`, the cells that its mask hides, the error.

    The error is that of what the weights make of the operation's output, by its other parameters: the output
    projection, and of an encoder's layer both norms and the feed-forward part.
    """
    made = row_of(result, example)
    layer = "src" in given
    query, key, value = (row_of(given["src" if layer else part], example) for part in ("query", "key", "value"))
    states = query
    if layer and given["norm_first"]:
        query = key = value = _norm(states, given, 1)
    heads = given["num_heads" if layer else "num_head"]
    weight, bias = given["qkv_weight"].chunk(3), given["qkv_bias"].chunk(3)
    parts = [functional.linear(x, w, b) for x, w, b in zip((query, key, value), weight, bias)]
    query, key, value = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts)
    hidden = _hidden(given, example, query.shape[-2], key.shape[-2])
    call = FusedCall(query, key, value, None if hidden is None else ~hidden)
    fused = functional.scaled_dot_product_attention(query, key, value, call.attn_mask)
    weights, error = rebuild_weights(call, fused)
    output = functional.linear(fused.transpose(1, 2).flatten(2), given["proj_weight"], given["proj_bias"])
    if layer:
        output = _rest_of_layer(states + output, given)
    cells = None if hidden is None else hidden.expand(1, heads, *weights.shape[1:])[0, 0]
    return weights, cells, max(error, relative_error(output, made))


def row_of(states: Tensor, example: int) -> Tensor:
    """[1, n, d] of one example of [batch, n, d], or of a nested tensor, where it has no padding."""
    return (states.unbind()[example] if states.is_nested else states[example])[None]


def _norm(states: Tensor, given: dict[str, Any], number: int) -> Tensor:
    weight, bias = given[f"norm_weight_{number}"], given[f"norm_bias_{number}"]
    return functional.layer_norm(states, states.shape[-1:], weight, bias, given["eps"])


def _rest_of_layer(states: Tensor, given: dict[str, Any]) -> Tensor:
    states = states if given["norm_first"] else _norm(states, given, 1)
    inner = _norm(states, given, 2) if given["norm_first"] else states
    inner = functional.linear(inner, given["ffn_weight_1"], given["ffn_bias_1"])
    inner = functional.gelu(inner) if given["use_gelu"] else inner.relu()
    states = states + functional.linear(inner, given["ffn_weight_2"], given["ffn_bias_2"])
    return states if given["norm_first"] else _norm(states, given, 2)


def _hidden(given: dict[str, Any], example: int, n: int, m: int) -> Tensor | None:
    """The cells [1, 1 or h, n, m] that a mask hides: its type 0 is [n, m], 1 padding [batch, m], 2 whole."""
    mask = given.get("mask")
    if mask is None:
        return None
    mask = mask.bool()  # minus infinity, or True
    if given.get("mask_type") == 1:
        mask = mask[example].view(1, 1, 1, m)
    elif given.get("mask_type") == 2:
        mask = mask[example : example + 1]
    return mask.expand(1, mask.shape[1] if mask.ndim == 4 else 1, n, m)


def without_modes() -> Any:
    """A block whose own operations no recorder sees."""
    return _disable_current_modes()
