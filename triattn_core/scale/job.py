"""A job on many workers from its rows to its results: what was done is kept in a folder until the results are read."""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
from filelock import FileLock, Timeout

from triattn_core.analysis.mining.sources import Source
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError
from triattn_core.scale import job_identity, on_ray, parts
from triattn_core.scale.on_ray import Cluster
from triattn_core.scale.row_files import truncation, write_rows
from triattn_core.scale.worker import Work, result_schema
from triattn_core.text.atomic_write import write_whole

FOLDER = Path("runs", "ray")
DONE = "triattn-done"  # in the hidden name that the folder of a finished job has while it is removed


@dataclass
class RayJob:
    """bundles: the checkpoints of `work`, loaded.  max_rows: only the first rows.

    folder: a folder that all workers can reach; by default one under `runs`, named by what is asked and what computes
    it, so that the same command goes on with it.  It is locked from `run` to `clear` or `release`.
    """

    work: Work
    bundles: Sequence[Bundle]
    source: Source
    cluster: Cluster
    max_rows: int | None = None
    folder: Path | None = None
    rows: int = 0
    last_line: int = 0
    seconds: float = 0.0
    truncated: str = ""  # why the file was not read to its end
    earlier: str = ""  # where unfinished results of another version are, which are not used
    restarts: int = 0  # workers that died in `run` and were started again
    computed: int = 0  # rows that `run` added to those of earlier runs

    def __post_init__(self):
        self._schema = result_schema(self.work, self.work.measure(self.bundles))
        self._identity = job_identity.describe(self.work, self.bundles, self.source, self.max_rows, self._schema)
        named = FOLDER / job_identity.folder_name(self._identity)
        self._place = self.folder = (self.folder or named).resolve()
        note = self._place / job_identity.NOTE
        if note.is_file() and (other := json.loads(note.read_text())) != self._identity:
            reason = job_identity.differences(other, self._identity) or "contains the results of another job"
            raise DataError(f"{self._place}: {reason}; choose another folder with --work")
        if self._place == named.resolve() and not note.is_file():
            self.earlier = job_identity.earlier_results(named, self._identity)
        self._place.mkdir(parents=True, exist_ok=True)
        if not note.is_file() and any(self._place.iterdir()):  # it is removed in the end
            raise DataError(f"{self._place}: not empty; name a new folder with --work")
        write_whole(note, json.dumps(self._identity))
        self._lock = FileLock(self._place / ".lock", timeout=0, thread_local=False)

    def run(self, report: Callable[[int, int, int], None] = lambda done, rows, alive: None) -> None:
        """Compute what is not done yet.  report: called with the rows done, all of them, and the workers that live; at
        first with the rows of earlier runs.

        Raises ConfigError without Ray or its cluster, DataError if no row could be read.
        """
        self._hold()
        try:
            self._run(report)
        except BaseException:
            self.release()
            raise

    def _hold(self) -> None:
        """Keep other processes off the folder until the results are read.  Raises DataError if one is at work there."""
        for leftover in self._place.parent.glob(f".*.{DONE}-*"):  # of jobs that were killed in `clear`
            shutil.rmtree(leftover, ignore_errors=True)
        self._place.mkdir(parents=True, exist_ok=True)  # again: another may have ended meanwhile
        try:
            self._lock.acquire()
        except Timeout:
            reason = "another command is at work on this job; wait for it, or name another folder with --work"
            raise DataError(f"{self._place}: {reason}") from None
        write_whole(self._place / job_identity.NOTE, json.dumps(self._identity))

    def release(self) -> None:
        """Let other processes at the folder; what is done stays in it."""
        self._lock.release()

    def _run(self, report: Callable[[int, int, int], None]) -> None:
        start = time.perf_counter()
        self.rows, self.last_line = write_rows(self.source, self.work.task, self._place / "rows", self.max_rows)
        self.truncated = truncation(self._place / "rows")
        if not self.rows:
            raise DataError(f"{self.source.name}: no row in it")
        self.cluster = on_ray.connect(self.cluster)
        on_ray.require_room(self.cluster, self.cluster.workers + on_ray.LEAST_BESIDE)

        earlier: list[int] = []

        def counted(done: int, alive: int) -> None:
            earlier[:] = earlier or [done]
            self.computed = done - earlier[0]
            report(min(done, self.rows), self.rows, min(alive, self.cluster.workers))

        begun = on_ray.starts(self._place)
        on_ray.map_rows(self.rows, self._place, self.work, self._schema, self.cluster, counted)
        self.restarts = max(0, on_ray.starts(self._place) - begun - self.cluster.workers)
        self.seconds = time.perf_counter() - start

    def tables(self) -> Iterator[pa.Table]:
        """The flat table, in parts, in the order of the file.  Raises DataError if rows are missing or none could be
        read."""
        num_rows = readable = 0
        for part in self._results():
            num_rows += len(part)
            flat = parts.records(part)
            readable += part["error"].null_count
            if len(flat):
                yield flat
        if num_rows != self.rows:
            remedy = "" if self.computed else "delete this folder and "
            reason = f"{num_rows:,} of {self.rows:,} rows are done; {remedy}run the same command again"
            raise DataError(f"{self._place}: {reason}")
        if not readable:
            raise DataError((*self.errors(), f"{self.source.name}: no row in it")[0])

    def errors(self) -> list[str]:
        """Why rows were set aside, with their lines."""
        return [error for part in self._results(["row", "error"]) for error in parts.errors(part)]

    def _results(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        return parts.ordered_parts(self._place / "parts", columns)

    def frame(self) -> pd.DataFrame:
        """The flat table; empty where no row is of any use to the measure, such as one without a label."""
        tables = [part.to_pandas() for part in self.tables()]
        return pd.concat(tables or [pd.DataFrame({"row": []})], ignore_index=True)

    def clear(self) -> str:
        """Remove what was kept, once the results are stored; returns why it stays, or an empty text.

        The folder is renamed first, so that a job that is killed here leaves no part of it under its name; the lock in
        it is released before it is removed, as NFS keeps a file that is open.
        """
        hidden = self._place.with_name(f".{self._place.name}.{DONE}-{uuid.uuid4().hex[:8]}")
        try:
            self._place.rename(hidden)
        except OSError as error:  # such as a mount
            return error.strerror or str(error)
        finally:
            self.release()
        shutil.rmtree(hidden, ignore_errors=True)
        return ""
