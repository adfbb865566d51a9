"""Replace the weights of chosen attentions while a model runs: what its output would be if it looked elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.overrides import TorchFunctionMode

from triattn_core.errors import ConfigError, InputError
from triattn_core.recording.module_stack import ModuleStack, Running
from triattn_core.recording.names import has_encoder_and_decoder, site_of
from triattn_core.recording.open_function import open_function
from triattn_core.recording.packed import PackedHeads
from triattn_core.recording.rebuild import FusedCall, attention_scores, is_hidden, repeat_heads
from triattn_core.recording.script import FUSED, WHOLE, ScriptOperations, fused_call, without_modes
from triattn_core.recording.selection import Select, check_select, selector
from triattn_core.trace.site import Site

# Of weights [batch…, head, query, key], and which cells their query sees, to others of the same shape.
Change = Callable[[Tensor, Tensor], Tensor]
SiteChange = Callable[[Tensor, Tensor, Site], Tensor]  # the same, told the site of the weights
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
    values, where it is replaced, and nowhere else.  Inside TorchScript weights are replaced where no gradients are
    kept, and not those of torch's own encoder layers, which are one operation there: InputError says so.
    Raises ConfigError for an unknown name or a `select` that names no module; InputError for an array of another
    shape, a head that is not there, and a block in which nothing was replaced.

    >>> import torch
    >>> model, states = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 5, 8)
    >>> with replace(model, "off", heads=[0, 1]):
    ...     output, _ = model(states, states, states)
    >>> bool((output == model.out_proj.bias).all())
    True
    """
    if isinstance(weights, str) and weights not in NAMED:
        raise ConfigError(f"weights {weights!r}: expected {', '.join(NAMED)}, an array or a function")
    if heads is not None and not (
        isinstance(heads, list | tuple) and all(isinstance(head, int) and not isinstance(head, bool) for head in heads)
    ):
        raise ConfigError(f"heads {heads!r}: expected a list of numbers, such as [0, 2]")
    if heads is not None and not heads:
        raise ConfigError("heads: an empty list chooses none; leave it out for all of them")
    check_select(model, select)
    change = _change(weights, seed)

    def of_heads(own: Tensor, seen: Tensor, running: Running) -> Tensor:
        changed = change(own, seen)
        if heads is None:
            return changed
        count = own.shape[-3]
        if absent := [head for head in heads if not 0 <= head < count]:
            raise InputError(
                f"{running.path or 'the model'} has {count} heads, counted from 0: there is no {absent[0]}"
            )
        chosen = torch.zeros(count, dtype=torch.bool, device=own.device)
        chosen[heads] = True
        return torch.where(chosen[:, None, None], changed, own)

    with _replacing(model, select, of_heads) as replaced:
        yield replaced
    if not replaced.modules:
        raise InputError(
            f"nothing was replaced: {type(model).__name__} ran no attention in the block"
            + " that `select` names" * (select is not None)
        )


@contextmanager
def replace_sites(model: nn.Module, change: SiteChange, select: Select = None) -> Iterator[Replacement]:
    """The same by one function for all sites: `change(weights, seen, site)` is told which cells the queries see, and
    the site, such as that of `layer.3/attention/weight`; it returns the weights to use, which may be the model's own.

    A recorder around it (`with record(model), replace_sites(model, …)`) sees the weights that are used.
    """
    sites: dict[tuple[str, int], Site] = {}
    has_sides = has_encoder_and_decoder(model)

    def at_site(own: Tensor, seen: Tensor, running: Running) -> Tensor:
        key = running.path, running.visit
        if key not in sites:
            sites[key] = site_of("", running, has_sides)
        return change(own, seen, sites[key])

    with _replacing(model, select, at_site) as replaced:
        yield replaced


@contextmanager
def _replacing(
    model: nn.Module, select: Select, change: Callable[[Tensor, Tensor, Running], Tensor]
) -> Iterator[Replacement]:
    stack = ModuleStack(model)
    selects = selector(select, stack.layers)
    mode = _Replacing(stack, selects, change)
    with stack.following(mode, selects, operations=mode.operations):
        yield mode.replaced


def even_weights(weights: Tensor, seen: Tensor | None = None) -> Tensor:
    """The same weight for every cell that is seen, by default those that are not zero; a row that sees none stays."""
    cells = ((weights > 0) if seen is None else seen).to(weights.dtype)
    return cells / cells.sum(-1, keepdim=True).clamp_min(1)


def shuffled_weights(weights: Tensor, seed: int, seen: Tensor | None = None) -> Tensor:
    """Each row's weights in a random order of the cells that are seen, by default those that are not zero."""
    generator = torch.Generator(weights.device).manual_seed(seed)
    with temporarily_clear_interpreter_stack():  # in `torch.vmap`, the order is that of each example outside it
        noise = torch.rand(weights.shape, generator=generator, device=weights.device)
    hidden = weights <= 0 if seen is None else ~seen
    source = noise.masked_fill(hidden, 2).argsort(-1)  # cells that are seen, in a random order
    target = hidden.to(torch.int8).argsort(stable=True, dim=-1)  # the same cells, in their own order
    return torch.zeros_like(weights).scatter(-1, target, weights.gather(-1, source))


def mean_row_weights(weights: Tensor, seen: Tensor | None = None) -> Tensor:
    """Each row becomes the mean of the rows that see its cells, over the cells that it sees, with the sum it had."""
    cells = ((weights > 0) if seen is None else seen).to(weights.dtype)
    mean = weights.sum(-2, keepdim=True) / cells.sum(-2, keepdim=True).clamp_min(1)
    rows = mean * cells
    return rows * (weights.sum(-1, keepdim=True) / rows.sum(-1, keepdim=True).clamp_min(torch.finfo(rows.dtype).tiny))


def edited_row_weights(weights: Tensor, query: int, keys: Sequence[int]) -> Tensor:
    """One row looks at these keys alone, with the same weight on each and the sum it had; the others stay.

    Raises InputError for a position that is not there.
    """
    n, m = weights.shape[-2:]
    if not 0 <= query < n or not keys or not all(0 <= key < m for key in keys):
        raise InputError(f"row {query} with keys {', '.join(map(str, keys)) or '(none)'}: there are {n} rows, {m} keys")
    changed = weights.clone()
    changed[..., query, :] = 0
    changed[..., query, list(keys)] = weights[..., query, :].sum(-1, keepdim=True) / len(keys)
    return changed


def _change(weights: Any, seed: int) -> Change:
    if callable(weights):
        return lambda own, seen: weights(own)
    if isinstance(weights, str):
        named: dict[str, Change] = {
            "even": even_weights,
            "shuffled": lambda own, seen: shuffled_weights(own, seed, seen),
            "off": lambda own, seen: torch.zeros_like(own),
        }
        return named[weights]
    given = torch.as_tensor(np.asarray(weights))

    def exchange(own: Tensor, seen: Tensor) -> Tensor:
        if given.shape != own.shape[own.ndim - given.ndim :]:
            expected = " × ".join(map(str, own.shape[-3:]))
            raise InputError(f"weights of shape {' × '.join(map(str, given.shape))}: this attention is {expected}")
        return given.to(own).expand_as(own)

    return exchange


class _Replacing(TorchFunctionMode):
    def __init__(
        self, stack: ModuleStack, selects: Callable[[str], bool], change: Callable[[Tensor, Tensor, Running], Tensor]
    ):
        super().__init__()
        self.stack, self.selects, self.change = stack, selects, change
        self.replaced, self.packed = Replacement(), PackedHeads()
        self.operations = ScriptOperations(stack, self.replace_operation)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.stack.scripted is None:
            return self._run(func, args, kwargs or {})
        with self.operations.pause():  # a function that TorchScript calls is changed here
            return self._run(func, args, kwargs or {})

    def _run(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        name = getattr(func, "__name__", "")
        running = self.stack.innermost
        if name == "multi_head_attention_forward":
            with self:
                return open_function(func)(*args, **kwargs)
        if running is None or name not in ("softmax", FUSED) or not self.selects(running.path):
            result = func(*args, **kwargs)
            self.packed.see(name, args, result)
            return result
        if name == FUSED:
            return self._attend(FusedCall(*args, **kwargs), running)
        result = func(*args, **kwargs)
        return self._of_softmax(result, args[0] if args else kwargs["input"], running)

    def replace_operation(self, func: Any, name: str, args: Any, kwargs: dict[str, Any], running: Running) -> Any:
        """Runs an operation inside TorchScript, with other weights where it forms or has some."""
        if name not in ("softmax", FUSED, *WHOLE) or not self.selects(running.path):
            return func(*args, **kwargs)
        where = running.path or "the model"
        if name in WHOLE:
            raise InputError(
                f"{where} runs as one operation inside TorchScript, without weights that can be replaced: use the"
                " module it was made from"
            )
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        if any(tensor.requires_grad for tensor in tensors):
            raise InputError(
                f"{where} is TorchScript, whose gradients would be those of its own weights: replace them under"
                " torch.no_grad(), or use the module it was made from"
            )
        if name == FUSED:
            with without_modes():
                _, *rest = func(*args, **kwargs)
            return self._attend(fused_call(kwargs), running), *rest
        return self._of_softmax(func(*args, **kwargs), args[0], running)

    def _attend(self, call: FusedCall, running: Running) -> Tensor:
        """What a fused call returns of other weights."""
        self.replaced.modules.append(running.path)
        shape, call = call.query.shape[:-1], self.packed.unpacked(call)[0]
        scores = attention_scores(call)
        weights = scores.softmax(-1).nan_to_num(0.0).to(call.query.dtype)
        made = self._changed(weights, scores, running) @ repeat_heads(call.value, call.group)
        return made.reshape(*shape, -1)

    def _of_softmax(self, weights: Tensor, scores: Tensor, running: Running) -> Tensor:
        """Other weights than those of a softmax, but of a gate, a router or a vocabulary its own."""
        if weights.ndim < 3:
            return weights
        self.replaced.modules.append(running.path)
        return self._changed(weights, scores, running)

    def _changed(self, weights: Tensor, scores: Tensor, running: Running) -> Tensor:
        """The other weights, as a function of the model's own, so that a recorder outside follows them."""
        changed = self.change(weights, seen_cells(weights, scores), running).to(weights.dtype)
        return torch.where(torch.ones_like(weights, dtype=torch.bool), changed, weights)


def seen_cells(weights: Tensor, scores: Tensor) -> Tensor:
    """Which cells no mask hides: a weight that is zero by rounding alone is seen."""
    if not scores.dtype.is_floating_point or scores.shape != weights.shape:
        return weights > 0
    return (weights > 0) | ~is_hidden(scores)
