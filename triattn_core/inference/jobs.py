"""Jobs: model work that takes turns on a device, is shared by all who ask for the same, and ends when nobody waits.

A job runs in a thread of its own, and computes only while it has its device's turn.  At its pause points (see
`inference.pause`) it hands the turn on once it has had it for SLICE seconds, to the waiting job whose session was
served longest ago; there too it ends soon after the last who asked for it has left.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from threading import Condition, Event, Lock, Thread, get_native_id
from typing import Any

from triattn_core.inference.pause import run_by

SLICE = 0.1  # seconds of a turn while others wait
BEHIND = 5  # how much nicer a job's thread is than those that draw pages
GRACE = 1.0  # seconds that a job goes on after the last has left: a page that runs anew asks again at once


class JobStopped(Exception):
    """Raised at a pause point of a job that nobody waits for."""


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
        self._changed, self._holder = Condition(), None
        self._waiting: list[Task] = []
        self._tasks: list[Task] = []
        self._served: dict[Hashable, int] = {}  # by session, when it had its last turn
        self._clock = count(1)

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
            if all(other.session != task.session for other in self._tasks):
                self._served.pop(task.session, None)

    def take(self, task: Task) -> None:
        """Waits for the turn.  Raises what `task.check` does."""
        with self._changed:
            self._waiting.append(task)
            try:
                while self._holder is not None or self._next() is not task:
                    task.check()
                    self._changed.wait(0.1)
                self._holder = task
                self._served[task.session] = next(self._clock)
            finally:
                self._waiting.remove(task)
                self._changed.notify_all()

    def _next(self) -> Task:
        return min(self._waiting, key=lambda task: self._served.get(task.session, 0))

    def give(self, task: Task) -> None:
        """Hands the turn on."""
        with self._changed:
            if self._holder is task:
                self._holder = None
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


class Job(Task):
    """A computation in a thread of its own, whose result all who asked for it get.

    key: what it answers.  keep: called with the result before anybody sees it, to store it.
    """

    def __init__(self, turns: Turns, key: Hashable, title: str, run: Callable[[], Any], session: Hashable, keep):
        super().__init__(turns, title, session)
        self.key, self._run, self._keep = key, run, keep
        self.result, self.error = None, None
        self._watchers: dict[int, Hashable] = {}
        self._numbers, self._ended, self._lock = count(), Event(), Lock()
        self._left: float | None = None
        self.stopped = False

    def watch(self, session: Hashable) -> int | None:
        """A number for somebody who waits for the result; None where the job is ending for want of such."""
        with self._lock:
            if self.stopped:
                return None
            number, self._left = next(self._numbers), None
            self._watchers[number] = session
            return number

    def unwatch(self, number: int, at_once: bool = False) -> None:
        """Somebody waits no longer.  at_once: they want it no more, and do not only look away."""
        with self._lock:
            self._watchers.pop(number, None)
            if not self._watchers:
                self._left = time.monotonic() - (GRACE if at_once else 0.0)

    def wait(self, seconds: float) -> bool:
        """Whether it has ended, after at most so many seconds."""
        return self._ended.wait(seconds)

    def check(self) -> None:
        with self._lock:
            if self._left is not None and time.monotonic() - self._left >= GRACE:
                self.stopped = True
        if self.stopped:
            raise JobStopped

    def answer(self) -> Any:
        """The result.  Raises what the computation raised."""
        if self.error is not None:
            raise self.error.with_traceback(None)
        return self.result

    def run(self) -> None:
        """The whole of it, in this thread."""
        _give_way()
        try:
            with self.turn():
                self.result = self._run()
            if self._keep is not None:
                self._keep(self.result)
        except BaseException as error:  # whoever waits gets it
            self.error = error
        finally:
            with self._lock:
                self.stopped = self.stopped or self.error is not None
            self._ended.set()


def _give_way() -> None:
    """Lets the threads that draw pages go before this one, where the system can."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + BEHIND)


class Jobs:
    """All jobs of a process, by device."""

    def __init__(self) -> None:
        self._turns: dict[str, Turns] = {}
        self._jobs: dict[Hashable, Job] = {}
        self._lock = Lock()

    def turns(self, device: str) -> Turns:
        """The turns of a device."""
        with self._lock:
            return self._turns.setdefault(device, Turns())

    def submit(
        self,
        device: str,
        key: Hashable,
        title: str,
        run: Callable[[], Any],
        session: Hashable,
        keep: Callable[[Any], None] | None = None,
    ) -> tuple[Job, int]:
        """The job that answers `key`, begun now or under way, and the number under which its caller waits for it."""
        turns = self.turns(device)
        with self._lock:
            job = self._jobs.get((device, key))
            number = job.watch(session) if job is not None else None
            if number is None:
                job = Job(turns, key, title, run, session, keep)
                number = job.watch(session)
                self._jobs[device, key] = job
                Thread(target=self._run, args=(device, job), name=f"job {title}", daemon=True).start()
            return job, number

    def _run(self, device: str, job: Job) -> None:
        job.run()
        with self._lock:
            if self._jobs.get((device, job.key)) is job:
                del self._jobs[device, job.key]


JOBS = Jobs()
