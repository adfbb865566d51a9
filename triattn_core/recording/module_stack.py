"""Which module of a model runs now: its path, visit and step, seen from one context (thread or task) alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

_followed: ContextVar[tuple[ModuleStack, ...]] = ContextVar("followed", default=())


@dataclass(frozen=True, eq=False)
class Running:
    """A module that runs.

    path: in the model, empty for the model itself.  visit: how many times it ran before in this step.
    step: how many times the whole model ran before, such as tokens that it generated.
    """

    path: str
    visit: int
    step: int
    module: nn.Module = field(repr=False)


@dataclass(eq=False)
class ModuleStack:
    """The modules of a model that run inside each other, outermost first.

    batch, length: the first two sizes of the first input, 0 where they are unknown.
    """

    model: nn.Module
    running: list[Running] = field(default_factory=list)
    batch: int = 0
    length: int = 0

    def __post_init__(self) -> None:
        modules = list(self.model.named_modules())
        self._kept = modules  # a model may replace parts while it runs: the id of one that is gone could be used again
        self._paths = {id(module): path for path, module in modules}
        self._visits: Counter[str] = Counter()
        self._step = -1

    @property
    def innermost(self) -> Running | None:
        return self.running[-1] if self.running else None

    def enter(self, module: nn.Module, args: tuple) -> None:
        path = self._path_of(module)
        if path is None:
            return
        if not self.running:
            self.batch = 0
        if not self.batch:  # models are often called with keywords, which these hooks do not see: their parts are not
            shape = next((value.shape for value in args if isinstance(value, Tensor) and value.ndim), (0,))
            self.batch, self.length = shape[0], shape[1] if len(shape) > 1 else 0
        if not path:
            self._step += 1
            self._visits.clear()
        self.running.append(Running(path, self._visits[path], max(self._step, 0), module))
        self._visits[path] += 1

    def leave(self, module: nn.Module) -> None:
        if self._path_of(module) is not None and self.running:
            while self.running.pop().module is not module and self.running:
                pass  # a module that was left by an exception

    def _path_of(self, module: nn.Module) -> str | None:
        return self._paths.get(id(module)) if self in _followed.get() else None

    @contextmanager
    def following(self) -> Iterator[None]:
        """Inside, `running` is kept.  torch's hooks are for all modules of all threads: those of others are passed by,
        and the hooks go at the end."""
        token = _followed.set((*_followed.get(), self))
        before = register_module_forward_pre_hook(lambda module, args: self.enter(module, args))
        after = register_module_forward_hook(lambda module, args, output: self.leave(module), always_call=True)
        try:
            yield
        finally:
            before.remove()
            after.remove()
            _followed.reset(token)
