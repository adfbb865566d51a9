"""Pause points: long computations call `pause` between blocks, and report how far they are with `progress`.

As with taps, nothing is attached to the model, which all sessions share: whoever runs a computation sets, in its own
thread, what happens at pause points, and may suspend the computation there or end it by raising.  Without a runner, a
pause point only looks up one variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@runtime_checkable
class Runner(Protocol):
    """Who runs a computation."""

    def pause(self) -> None:
        """Called between blocks of some milliseconds; what it raises ends the computation."""

    def progress(self, done: int, total: int) -> None:
        """Called with how many of how many parts are done."""


_runner: ContextVar[Runner | None] = ContextVar("runner", default=None)


@contextmanager
def run_by(runner: Runner) -> Iterator[None]:
    """Within the block, pause points and progress of this thread go to the runner."""
    token = _runner.set(runner)
    try:
        yield
    finally:
        _runner.reset(token)


def pause() -> None:
    """A point where a computation may be suspended or ended."""
    runner = _runner.get()
    if runner is not None:
        runner.pause()


def progress(done: int, total: int) -> None:
    """Report that `done` of `total` parts of a computation are done; also a pause point."""
    runner = _runner.get()
    if runner is not None:
        runner.progress(done, total)
        runner.pause()


@dataclass(frozen=True)
class _Part:
    """A runner that counts a computation as one of several alike."""

    runner: Runner
    number: int
    parts: int

    def pause(self) -> None:
        self.runner.pause()

    def progress(self, done: int, total: int) -> None:
        self.runner.progress(self.number * total + done, self.parts * total)


@contextmanager
def part(number: int, parts: int) -> Iterator[None]:
    """Within the block, progress counts as that of part `number`, from 0, of `parts` of one size."""
    runner = _runner.get()
    if runner is None:
        yield
        return
    with run_by(_Part(runner, number, parts)):
        yield
