"""Jobs that compute for a given time, and the wait for their answer."""

from __future__ import annotations

import time

from triattn_core.inference.jobs import Job
from triattn_core.inference.pause import pause


def busy(seconds: float, log: list | None = None, name: str = "") -> str:
    """Computes so long by its own clock, with a pause point each millisecond; notes each."""
    spent = 0.0
    while spent < seconds:
        started = time.perf_counter()
        time.sleep(0.001)
        spent += time.perf_counter() - started
        if log is not None:
            log.append(name)
        pause()
    return name


def wait(job: Job, seconds: float = 10.0):
    assert job.wait(seconds), "a job that does not end"
    return job.answer()
