"""Turns on a device: who computes next, and when who computes hands on.

A task computes only while it has the turn.  At its pause points (see `inference.pause`) it hands the turn on once it
has had it for SLICE seconds, to the waiting task whose session has used the device least of late: a question of a
second does not wait for those of a minute, however many they are.  A session that has waited for PATIENCE seconds goes
before those, so that a stream of new ones leaves a long question a share too.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

from triattn_core.inference.pause import run_by

SLICE = 0.1  # seconds of a turn while others wait
HALF_LIFE = 5.0  # seconds after which half of what a session has used is forgotten
PATIENCE = 1.5  # seconds of waiting after which a session goes first


@dataclass(frozen=True)
class Status:
    """What can be said of a job that is under way.

    behind: titles of the jobs that it shares its device with, or waits behind as long as it has not had a turn.
    left: estimated seconds to the end of what is counted; None where nothing is.
    """

    waiting: bool
    behind: tuple[str, ...]
    done: int
    total: int
    seconds: float
    left: float | None


class Turns:
    """Whose turn it is on one device."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._holder: Task | None = None
        self._waiting: dict[Task, float] = {}  # since when
        self._tasks: list[Task] = []
        self._since = 0.0  # when the holder took the turn
        self._used: dict[Hashable, tuple[float, float]] = {}  # by session, seconds of use and when they were counted
        self._served: dict[Hashable, float] = {}  # by session, when it last handed a turn on

    @property
    def contested(self) -> bool:
        """Whether another task waits for the turn."""
        return bool(self._waiting)

    @property
    def tasks(self) -> list[Task]:
        """All that are under way, in the order in which they came."""
        return list(self._tasks)

    def join(self, task: Task) -> None:
        """A task comes; it has no turn yet."""
        with self._changed:
            self._tasks.append(task)

    def leave(self, task: Task) -> None:
        """A task has ended."""
        with self._changed:
            self._tasks.remove(task)
            staying, now = {other.session for other in self._tasks}, time.monotonic()
            used = {session: self._use(session, now) for session in self._used}
            self._used = {
                session: (use, now) for session, use in used.items() if session in staying or use > SLICE / 10
            }
            self._served = {session: at for session, at in self._served.items() if session in staying}

    def take(self, task: Task) -> None:
        """Waits for the turn.  Raises what `task.check` does."""
        with self._changed:
            self._waiting[task] = time.monotonic()
            try:
                while self._holder is not None or self._next() is not task:
                    task.check()
                    self._changed.wait(0.1)
                self._holder, self._since = task, time.monotonic()
            finally:
                del self._waiting[task]
                self._changed.notify_all()

    def _next(self) -> Task:
        now = time.monotonic()
        waited = {
            task: now - max(since, self._served.get(task.session, since)) for task, since in self._waiting.items()
        }
        longest = max(waited, key=lambda task: waited[task])
        if waited[longest] > PATIENCE:
            return longest
        return min(self._waiting, key=lambda task: self._use(task.session, now))

    def _use(self, session: Hashable, now: float) -> float:
        """Seconds that a session has used the device, old ones counted less."""
        use, at = self._used.get(session, (0.0, now))
        return use * 0.5 ** ((now - at) / HALF_LIFE)

    def give(self, task: Task) -> None:
        """Hands the turn on."""
        with self._changed:
            if self._holder is task:
                now = time.monotonic()
                self._used[task.session] = self._use(task.session, now) + now - self._since, now
                self._holder, self._served[task.session] = None, now
                self._changed.notify_all()


class Task:
    """Something that needs turns.  session: whose it is.  whole: keeps its turn to its end, as a measurement must."""

    def __init__(self, turns: Turns, title: str, session: Hashable, whole: bool = False):
        self.turns, self.title, self.session, self.whole = turns, title, session, whole
        self.done = self.total = 0
        self.started = self.since = time.monotonic()
        self._counting = self.started
        self.served = False

    def check(self) -> None:
        """Raises JobStopped where the task is to end."""

    def pause(self) -> None:
        """Hands the turn on where others wait and it has lasted long enough.  Raises JobStopped."""
        self.check()
        if not self.whole and time.monotonic() - self.since > SLICE and self.turns.contested:
            self.turns.give(self)
            self._take()

    def progress(self, done: int, total: int) -> None:
        if total != self.total or done < self.done:
            self._counting = time.monotonic()
        self.done, self.total = done, total

    def _take(self) -> None:
        self.turns.take(self)
        self.check()  # it may have been left while it waited
        self.since, self.served = time.monotonic(), True

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Inside, it has the turn but at pause points."""
        self.turns.join(self)
        try:
            self._take()
            with run_by(self):
                yield
        finally:
            self.turns.give(self)
            self.turns.leave(self)

    def status(self) -> Status:
        """How far it is."""
        now, tasks = time.monotonic(), self.turns.tasks
        before = tasks[: tasks.index(self)] if self in tasks and not self.served else tasks
        spent, left = now - self._counting, None
        if 0 < self.done < self.total:
            left = spent / self.done * (self.total - self.done)
        others = tuple(task.title for task in before if task is not self)
        return Status(not self.served, others, self.done, self.total, now - self.started, left)
