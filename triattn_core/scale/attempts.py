"""Attempts at loading the checkpoints and at the rows of a batch: how often workers died at them in one run of a job,
and when it ends."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triattn_core.errors import DataError, describe_machine_failure, is_machine_failure

TRIES = 3  # of a batch at which the machine fails or the system kills the worker, each in a process of its own
KILLED = "its process was killed, as the system does when memory runs out"


@contextmanager
def count_attempt(note: Path, lines: str) -> Iterator[None]:
    """Context in which a batch is measured.  A failure of the machine ends this process, if it is one of Ray's, which
    starts another; with TRIES failures, or processes that died without an exception, DataError is raised, which ends
    the job.

    note: a file named by the run and the rows, with the reason of each attempt so far; it is written before an attempt,
    as a process that is killed writes nothing, and removed after it.  lines: the rows in words.
    """
    reasons = note.read_text("utf-8").splitlines() if note.is_file() else []
    if len(reasons) < TRIES:
        with open(note, "a", encoding="utf-8") as file:
            file.write(f"{KILLED}\n")
        try:
            yield
        except Exception as error:
            if not is_machine_failure(error):
                note.unlink(missing_ok=True)
                raise
            reasons.append(describe_machine_failure(error))
            note.write_text("".join(f"{reason}\n" for reason in reasons), "utf-8")
            if len(reasons) < TRIES and is_in_actor():
                os._exit(1)
        else:
            note.unlink(missing_ok=True)
            return
    note.unlink(missing_ok=True)
    times = "once" if len(reasons) == 1 else f"{len(reasons)} times"
    raise DataError(f"a worker failed {times} at lines {lines}: {reasons[-1]}") from None


@contextmanager
def count_start(log: Path, run: str, workers: int) -> Iterator[None]:
    """Context in which a worker loads its checkpoints.  Raises DataError where TRIES workers of this run have died so,
    as Ray would start others for ever.

    log: folder in which each has a file meanwhile.  workers: how many there are, so that many may load at a time.
    """
    deaths = len(list(log.glob(f"starting-{run}-*"))) - (workers - 1)
    if deaths >= TRIES:
        reason = "killed while they loaded the checkpoints, as the system does when memory runs out"
        raise DataError(f"{deaths} workers were {reason}; try fewer --workers")
    note = log / f"starting-{run}-{uuid.uuid4().hex}"
    note.touch()
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def is_in_actor() -> bool:
    """Whether this process is one of Ray's, which starts another if it ends."""
    ray = sys.modules.get("ray")
    return ray is not None and ray.is_initialized() and ray.get_runtime_context().get_actor_id() is not None
