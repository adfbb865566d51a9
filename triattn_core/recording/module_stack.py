"""Which module of a model runs now: its path, visit and step, seen from one context (thread or task) alone."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode, _len_torch_function_stack, _pop_mode, _push_mode
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from triattn_core.errors import TriattnError
from triattn_core.recording.layer_lists import layer_numbers
from triattn_core.recording.tensors import PROVED, without_numbers

FUSED = (nn.TransformerEncoder, nn.TransformerEncoderLayer, nn.MultiheadAttention)
ROUNDED = 10  # times the rounding of one product, which a module of several may miss
_followed: ContextVar[tuple[ModuleStack, ...]] = ContextVar("followed", default=())


class Operations(TorchDispatchMode):
    """A mode that sees operations.  raised: what is to be raised at the end of TorchScript, which would hide it."""

    raised: TriattnError | None = None


@dataclass(frozen=True, eq=False)
class Running:
    """A module that runs.

    path: in the model, empty for the model itself.  visit: how many times it ran before in this step.
    step: how many times the whole model ran before, such as tokens that it generated.
    layer: its number, from 0, see `layer_lists`; None outside of layers.
    """

    path: str
    visit: int
    step: int
    layer: int | None
    module: nn.Module = field(repr=False)


@dataclass(eq=False)
class ModuleStack:
    """The modules of a model that run inside each other, outermost first.

    batch, length: the first two sizes of the first input, 0 where they are unknown.  pairs: the sizes n of pair
    representations [..., n, n, d] that modules were given since the outermost one began; lengths: how many ids or
    vectors [..., n, d] these inputs had.

    unseen: paths of modules that attend without a softmax, which is not recorded.  lost: module and shape of each
    softmax of tokens over tokens whose weights were not seen to meet values.  unread: why the numbers of a module
    cannot be read.  dropped: the rate of a dropout that
    changed weights at random.  ran: paths of the modules that ran, selected or not.  layers: see `layer_numbers`.

    torch runs a `TransformerEncoderLayer` in evaluation as one fused operation, unless a mode is active.  fused_error:
    by how much the output of such a module, which is run again without the mode, differs from what the mode saw; apart:
    the same where it is more than rounding, as with an added mask, which the fused operation reads as one of booleans.
    """

    model: nn.Module
    fused_error: float = 0.0
    apart: float = 0.0
    running: list[Running] = field(default_factory=list)
    batch: int = 0
    length: int = 0
    pairs: set[int] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    unseen: dict[str, None] = field(default_factory=dict)
    lost: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    dropped: float = 0.0
    ran: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        modules = list(self.model.named_modules())
        self._kept = modules  # a model may replace parts while it runs: the id of one that is gone could be used again
        self._paths = {id(module): path for path, module in modules}
        self.layers = layer_numbers(self.model)
        self._visits: Counter[str] = Counter()
        self._step = -1
        self.mode: TorchFunctionMode | None = None
        self.selects: Callable[[str], bool] = lambda path: False
        self.left: Callable[[Running, Any], None] = lambda running, output: None
        self.again = False
        self._watched: Running | None = None
        self.operations: Operations | None = None
        self.scripted: Running | None = None  # the TorchScript that runs, whose operations are seen
        self._paused = False
        self._stance: Any = None

    @property
    def innermost(self) -> Running | None:
        return self.running[-1] if self.running else None

    def enter(self, module: nn.Module, args: tuple) -> None:
        if self not in _followed.get() or self._paused or runs_again():
            return
        self._leave_compiled_code()
        path = self._paths.get(id(module))
        if path is None:
            return
        if not self.running:
            self.batch = self.length = 0
            self.pairs.clear()
            self.lengths.clear()
        self.see_inputs(args)
        if not path:
            self._step += 1
            self._visits.clear()
        running = Running(path, self._visits[path], max(self._step, 0), self.layers[path], module)
        self.ran.add(path)
        self.running.append(running)
        self._visits[path] += 1
        if self.mode is not None and self._watched is None and self._watches(running):
            self._watched = running
            _push_mode(self.mode)
        if self._watched and not self.scripted and self.operations and isinstance(module, torch.jit.ScriptModule):
            self.scripted = running
            _python_dispatch._push_mode(self.operations)

    def see_inputs(self, values: Iterable[Any]) -> None:
        """Takes batch and length from the first inputs that are seen, and pair representations from all."""
        shapes = [value.shape for value in values if isinstance(value, Tensor) and value.ndim]
        if not self.batch and shapes:
            self.batch, self.length = shapes[0][0], shapes[0][1] if len(shapes[0]) > 1 else 0
        for shape in shapes:
            self.see_pairs(shape)
            if (
                len(shape) > 2 or len(shape) == 2 and shape[0] == self.batch
            ):  # other ids, such as of distances, have none
                self.lengths.add(shape[-2] if len(shape) > 2 else shape[1])

    def _watches(self, running: Running) -> bool:
        """Whether a module is selected, or is around one that is and runs as one fused operation or outside Python."""
        if self.selects(running.path) or not isinstance(running.module, (*FUSED, torch.jit.ScriptModule)):
            return self.selects(running.path)
        inside = running.path + "." * bool(running.path)
        return any(self.selects(path) for path in self._paths.values() if path.startswith(inside))

    def see_pairs(self, shape: Sequence[int]) -> None:
        """Keeps n where a shape is [..., n, n, d], or [..., n, n, heads, d] as a pair representation by heads is."""
        self.pairs.update(one for one, other, _ in zip(shape, shape[1:], shape[2:]) if one == other > 1)

    def leave(self, module: nn.Module, args: tuple, *made: Any) -> Any:
        """Ends a module.  Returns what it is to return in place of its output, or None.

        made: its keywords and its output; the output alone, None, where it raised an exception.
        """
        if self not in _followed.get() or self._paused or id(module) not in self._paths or not self.running:
            return None
        if runs_again():
            return None
        while (running := self.running.pop()).module is not module and self.running:
            self._unwatch(running)  # a module that was left by an exception
        output = made[-1]
        self.left(running, output)
        scripted = self.scripted
        watched = self._unwatch(running)
        if scripted is running and self.operations is not None and (error := self.operations.raised) is not None:
            self.operations.raised = None
            raise error
        if watched and len(made) == 2 and self._is_fused(running):
            return self._again(module, args, *made)
        return None

    def _unwatch(self, running: Running) -> bool:
        """Takes the modes off the stacks of torch, whatever others stand on them, where this module began them."""
        if self.scripted is running:
            self.scripted = None
            others: list[TorchDispatchMode] = []
            while (other := _python_dispatch._pop_mode()) is not self.operations:
                others.append(other)
            for other in reversed(others):
                _python_dispatch._push_mode(other)
        if self._watched is not running:
            return False
        self._watched = None
        above: list[TorchFunctionMode] = []
        while _len_torch_function_stack() and (mode := _pop_mode()) is not self.mode:
            above.append(mode)
        for mode in reversed(above):
            _push_mode(mode)
        return True

    def _is_fused(self, running: Running) -> bool:
        """Whether the module holds one that torch would have run as one operation, had nothing watched it."""
        if torch.is_grad_enabled() and any(weight.requires_grad for weight in running.module.parameters()):
            return False
        parts = [part for part in running.module.modules() if isinstance(part, FUSED)]
        hooked = any(part._forward_hooks or part._forward_pre_hooks for part in running.module.modules())
        alone = len(_followed.get()) == 1 and not _len_torch_function_stack()  # what others change is to stay
        return self.again and alone and not hooked and any(not part.training for part in parts)

    def _again(self, module: nn.Module, args: tuple, kwargs: dict[str, Any], output: Any) -> Any:
        """What the module that has ended returns without the mode; None where that is the same or is no tensor."""
        self._paused = True
        try:
            plain = module.forward(*args, **kwargs)
        finally:
            self._paused = False
        ours, theirs = (value[0] if isinstance(value, tuple) else value for value in (output, plain))
        if not isinstance(theirs, Tensor) or theirs.is_nested or theirs.shape != ours.shape:
            return None
        if without_numbers(theirs):
            return plain
        self.fused_error = max(self.fused_error, error := _difference(ours, theirs))
        if error > ROUNDED * max(PROVED, torch.finfo(theirs.dtype).eps):
            self.apart = max(self.apart, error)
        return plain

    def _leave_compiled_code(self) -> None:
        """Has what `torch.compile` made run as the Python that it was made of, while the block lasts."""
        if self._stance is None and "torch._dynamo" in sys.modules:
            self._stance = torch.compiler.set_stance("force_eager")

    @contextmanager
    def following(
        self,
        mode: TorchFunctionMode,
        selects: Callable[[str], bool],
        left: Callable[[Running, Any], None] | None = None,
        again: bool = False,
        operations: Operations | None = None,
    ) -> Iterator[None]:
        """Inside, `running` is kept, and a function mode is active while a module runs whose path it selects.

        It is not active elsewhere, so that the rest of the model runs as without it.

        left: is told what each module returns.  again: run a module that torch fuses once more, without the mode, and
        return that.  torch's hooks are for all modules of all threads: those of others are passed by, and the hooks go
        at the end; so does the stance of `torch.compile`, which is that of all threads.  operations: the mode that is
        active while TorchScript runs inside such a module.
        """
        self.operations = operations
        self.mode, self.selects, self.again = mode, selects, again
        self.left = left or self.left
        token = _followed.set((*_followed.get(), self))
        before = register_module_forward_pre_hook(self.enter)
        after = register_module_forward_hook(self.leave, with_kwargs=True, always_call=True)
        named = self._see_keywords()
        self._leave_compiled_code()
        try:
            yield
        finally:
            before.remove()
            after.remove()
            if named is not None:
                named.remove()
            for running in reversed(self.running):
                self._unwatch(running)
            self.running.clear()
            if self._stance is not None:
                self._stance.__exit__(None, None, None)
                self._stance = None
            _followed.reset(token)
            self.mode = self.operations = None
            self.left = lambda running, output: None  # no circle that keeps what was recorded

    def _see_keywords(self) -> Any:
        """A hook of the model itself that sees its inputs by keyword, which hooks of all modules do not; none on a
        module that torch runs as one operation only without hooks."""

        def see(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
            if self in _followed.get() and not self._paused and not runs_again():
                self.see_inputs(kwargs.values())

        if any(isinstance(part, (*FUSED, torch.jit.ScriptModule)) for part in self.model.modules()):
            return None
        return self.model.register_forward_pre_hook(see, with_kwargs=True)


def _difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference of two outputs [..., d], as a share of the largest number of the second; infinite where
    one of them alone is no number.  Tokens for which the second has zeros, as fused operations write for padding, do
    not count."""
    written = (theirs != 0).any(-1)
    ours, theirs = ours[written].float(), theirs[written].float()
    if not theirs.numel():
        return 0.0
    if not torch.equal(ours.isnan(), theirs.isnan()):
        return float("inf")
    return float((ours - theirs).abs().nan_to_num(0.0).max() / theirs.abs().nan_to_num(0.0).max().clamp_min(1e-30))


def runs_again() -> bool:
    """Whether gradients are computed now: what a module then does, under gradient checkpointing, it did before."""
    return bool(torch._C._current_graph_task_id() != -1)
