"""Run a model from one of its layers on: the layers before it return what they returned for the same input."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from torch import Tensor, nn

from triattn_core.recording.layer_lists import LAYERS


def layer_path(path: str) -> str:
    """The path of the layer that a module is in, such as `bert.encoder.layer.3`; empty where it is in none."""
    match = LAYERS.search(path)
    return path[: match.end(1)] if match else ""


@dataclass(frozen=True)
class Prefix:
    """A model that shares its weights with another one, and what each layer of that one returned for some rows.

    outputs: by the path of the layer, in the order in which they ran.
    """

    model: nn.Module = field(repr=False)
    outputs: dict[str, Any] = field(repr=False)
    rows: int

    @contextmanager
    def held_before(self, path: str, times: int = 1) -> Iterator[nn.Module]:
        """Yields the model, whose layers before that of a path do not run: each row of a batch stands `times` times.

        Everything runs where the path is in no layer, or a layer ran more than once.
        """
        layer = layer_path(path)
        before = list(self.outputs)[: list(self.outputs).index(layer)] if layer in self.outputs else []
        with ExitStack() as stack:
            for name in before:
                parent_path, _, number = name.rpartition(".")
                parent: Any = self.model.get_submodule(parent_path)
                own = parent[int(number)]
                stack.callback(parent.__setitem__, int(number), own)
                parent[int(number)] = _Held(own, _map(self.outputs[name], self._repeat(times)))
            yield self.model

    def _repeat(self, times: int) -> Callable[[Tensor], Tensor]:
        def repeat(tensor: Tensor) -> Tensor:
            own = tensor.ndim > 0 and tensor.shape[0] == self.rows
            return tensor.repeat_interleave(times, 0) if own else tensor

        return repeat


def hold_layers(model: nn.Module, paths: Sequence[str], run: Callable[[nn.Module], Any], rows: int) -> Prefix:
    """Returns the prefixes of a run over so many rows; `run` calls the model that it is given, which shares the
    weights of `model`: that one is not touched, so that other threads may run it.

    paths: of modules, such as those of attentions, whose layers are held.
    """
    shared = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    twin = copy.deepcopy(model, shared)
    outputs: dict[str, Any] = {}
    again: set[str] = set()

    def keep(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, arguments: Any, output: Any) -> None:
            again.update({name} & outputs.keys())
            outputs[name] = output

        return hook

    with ExitStack() as stack:
        for name in dict.fromkeys(filter(None, map(layer_path, paths))):
            stack.callback(twin.get_submodule(name).register_forward_hook(keep(name)).remove)
        run(twin)
    return Prefix(twin, {} if again else outputs, rows)


class _Held(nn.Module):
    """A layer that returns what it is told to; in all else it is the layer whose place it takes."""

    def __init__(self, own: nn.Module, output: Any):
        super().__init__()
        self.__dict__["own"], self.__dict__["output"] = own, output

    def forward(self, *arguments: Any, **options: Any) -> Any:
        return self.__dict__["output"]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["own"], name)


def _map(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The tensors of a value changed, in whatever it holds them."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map(part, change) for part in value))
    if isinstance(value, list | tuple):
        return type(value)(_map(part, change) for part in value)
    if isinstance(value, dict):
        return type(value)(**{name: _map(part, change) for name, part in value.items()})
    return value
