"""Jobs: model work that takes turns on a device, is shared by all who ask for the same, and ends when nobody waits.

A job runs in a thread of its own, in turn with others (`inference.device_scheduler`).  At its pause points it ends soon
after the last who asked for it has left.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from itertools import count
from threading import Event, Lock, Thread, get_native_id
from typing import Any

from triattn_core.inference.device_scheduler import DeviceScheduler, Task

BEHIND = 5  # how much nicer a job's thread is than those that draw pages
GRACE = 1.0  # seconds that a job goes on after the last has left: a page that runs anew asks again at once


class JobStopped(Exception):
    """Raised at a pause point of a job that nobody waits for."""


class Job(Task):
    """A computation in a thread of its own, whose result all who asked for it get.

    key: what it answers.  keep: called with the result before anybody sees it, to store it.
    """

    def __init__(
        self, scheduler: DeviceScheduler, key: Hashable, title: str, run: Callable[[], Any], session: Hashable, keep
    ):
        super().__init__(scheduler, title, session)
        self.key, self._run, self._keep = key, run, keep
        self.result: Any = None
        self.error: BaseException | None = None
        self._watchers: dict[int, Hashable] = {}
        self._numbers, self._ended, self._lock = count(), Event(), Lock()
        self._left: float | None = None
        self.stopped = False

    def watch(self, session: Hashable) -> int | None:
        """A number for somebody who waits for the result; None where the job is ending for want of such."""
        with self._lock:
            return None if self.stopped else self._number(session)

    def _number(self, session: Hashable) -> int:
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
        give_way()
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


def give_way() -> None:
    """Lets the threads that draw pages go before this one, where the system can."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + BEHIND)


class Jobs:
    """All jobs of a process, by device."""

    def __init__(self) -> None:
        self._schedulers: dict[str, DeviceScheduler] = {}
        self._jobs: dict[Hashable, Job] = {}
        self._lock = Lock()

    def scheduler(self, device: str) -> DeviceScheduler:
        """The scheduler of a device."""
        with self._lock:
            return self._schedulers.setdefault(device, DeviceScheduler())

    def running(self) -> list[Task]:
        """What is under way on all devices."""
        with self._lock:
            return [task for scheduler in self._schedulers.values() for task in scheduler.tasks]

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
        scheduler = self.scheduler(device)
        with self._lock:
            job = self._jobs.get((device, key))
            number = job.watch(session) if job is not None else None
            if job is None or number is None:
                job = self._jobs[device, key] = Job(scheduler, key, title, run, session, keep)
                number = job._number(session)
                Thread(target=self._run, args=(device, job), name=f"job {title}", daemon=True).start()
            return job, number

    def _run(self, device: str, job: Job) -> None:
        job.run()
        with self._lock:
            if self._jobs.get((device, job.key)) is job:
                del self._jobs[device, job.key]


JOBS = Jobs()
