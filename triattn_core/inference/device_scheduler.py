"""The scheduler of a device: which task computes next, and when a task yields.

A task computes only while it has the turn.  At its pause points (see `inference.pause`) it hands the turn on once it
has had it for SLICE seconds.  One turn goes to the waiting task whose session has used the device least recently: a
question of a second does not wait for those of a minute, however many they are.  The next goes to the earliest promise,
which is a second of work for every PROMISE seconds since it came: however many are new, who came first ends first.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock

from triattn_core.inference.pause import run_by

SLICE = 0.1  # seconds of a turn while others wait
HALF_LIFE = 5.0  # seconds after which half of what a session has used is forgotten
CHECK = 0.5  # seconds after which one that waits looks whether anybody still wants its result
PROMISE = 4.0  # seconds in which a task is promised one of work


@dataclass(frozen=True)
class Status:
    """The state of a running or waiting job.

    behind: titles of the jobs that share its device, or that it waits for before its first turn.
    remaining: estimated seconds to the end; None without a count.
    """

    waiting: bool
    behind: tuple[str, ...]
    done: int
    total: int
    seconds: float
    remaining: float | None


class DeviceScheduler:
    """Gives the turns on one device to the tasks that wait for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holder: Task | None = None
        self._waiting: list[Task] = []
        self._tasks: list[Task] = []
        self._since = 0.0  # when the holder took the turn
        self._used: dict[Hashable, tuple[float, float]] = {}  # by session, seconds of use and when they were counted
        self._given = 0  # turns so far

    @property
    def has_waiting(self) -> bool:
        """Whether another task waits for the turn."""
        return bool(self._waiting)

    @property
    def tasks(self) -> list[Task]:
        """All that are under way, in the order in which they came."""
        return list(self._tasks)

    @property
    def holder(self) -> Task | None:
        """The task that has the turn."""
        return self._holder

    def join(self, task: Task) -> None:
        """A task comes; it has no turn yet."""
        with self._lock:
            self._tasks.append(task)

    def leave(self, task: Task) -> None:
        """A task has ended."""
        with self._lock:
            self._tasks.remove(task)
            staying, now = {other.session for other in self._tasks}, time.monotonic()
            used = {session: self._use(session, now) for session in self._used}
            self._used = {
                session: (use, now) for session, use in used.items() if session in staying or use > SLICE / 10
            }

    def ask(self, task: Task) -> None:
        """The task is among those that wait; `task.called` is set once it has the turn."""
        with self._lock:
            self._waiting.append(task)
            if self._holder is None:
                self._hand_on()

    def take(self, task: Task) -> None:
        """Waits for the turn.  Raises what `task.check` does."""
        self.ask(task)
        try:
            while not task.called.wait(CHECK):
                task.check()
        except BaseException:
            with self._lock:
                if self._holder is task:
                    self._hand_on()
                else:
                    self._waiting.remove(task)
            raise
        finally:
            task.called.clear()

    def _hand_on(self) -> None:
        """The turn to the next, who alone is woken."""
        self._holder = self._next() if self._waiting else None
        if self._holder is not None:
            self._waiting.remove(self._holder)
            self._since = time.monotonic()
            self._holder.called.set()

    def _next(self) -> Task:
        if self._given % 2:
            return min(self._waiting, key=lambda task: task.started + PROMISE * task.used)
        now = time.monotonic()
        return min(self._waiting, key=lambda task: self._use(task.session, now))

    def _use(self, session: Hashable, now: float) -> float:
        """Seconds that a session has used the device, old ones counted less."""
        use, counted_at = self._used.get(session, (0.0, now))
        return use * 0.5 ** ((now - counted_at) / HALF_LIFE)

    def give(self, task: Task) -> None:
        """Hands the turn on."""
        with self._lock:
            if self._holder is task:
                now = time.monotonic()
                task.used += now - self._since
                self._used[task.session] = self._use(task.session, now) + now - self._since, now
                self._given += 1
                self._hand_on()


class Task:
    """Something that needs turns.  session: whose it is.  uninterrupted: keeps its turn to
    the end, for measurements."""

    def __init__(self, scheduler: DeviceScheduler, title: str, session: Hashable, uninterrupted: bool = False):
        self.scheduler, self.title, self.session, self.uninterrupted = scheduler, title, session, uninterrupted
        self.done = self.total = 0
        self.used = 0.0  # seconds of the device
        self.called = Event()  # the turn is its own
        self.started = self.since = time.monotonic()
        self._counting = self.started
        self.served = False

    def check(self) -> None:
        """Raises JobStopped where the task is to end."""

    def pause(self) -> None:
        """Hands the turn on where others wait and it has lasted long enough.  Raises JobStopped."""
        self.check()
        if not self.uninterrupted and time.monotonic() - self.since > SLICE and self.scheduler.has_waiting:
            self.scheduler.give(self)
            self._take()

    def progress(self, done: int, total: int) -> None:
        if total != self.total or done < self.done:
            self._counting = time.monotonic()
        self.done, self.total = done, total

    def _take(self) -> None:
        self.scheduler.take(self)
        self.check()  # it may have been left while it waited
        self.since, self.served = time.monotonic(), True

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Inside, it has the turn but at pause points."""
        self.scheduler.join(self)
        try:
            self._take()
            with run_by(self):
                yield
        finally:
            self.scheduler.give(self)
            self.scheduler.leave(self)

    def status(self) -> Status:
        """The current state of the task."""
        now, tasks = time.monotonic(), self.scheduler.tasks
        before = tasks[: tasks.index(self)] if self in tasks and not self.served else tasks
        spent, remaining = now - self._counting, None
        if 0 < self.done < self.total:
            remaining = spent / self.done * (self.total - self.done)
        titles = tuple(task.title for task in before if task is not self)
        return Status(not self.served, titles, self.done, self.total, now - self.started, remaining)
