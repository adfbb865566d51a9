"""A worker: loads the checkpoints once, then takes tables of rows and returns tables of results.

A plain class, so that one process runs it without Ray.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from triattn_core.analysis.measures import Measure, Over, measure_batch
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.scale.attempts import count_attempt, count_start
from triattn_core.scale.code_version import code_version
from triattn_core.tasks import TASKS
from triattn_core.text.atomic_write import write_whole

BEAT, SILENT = 3.0, 15.0  # seconds between two signs of life, and without one after which a worker counts as dead


def code_versions() -> tuple[tuple[str, str], ...]:
    """triattn, by its code, and the version of torch in this process; builds for other devices count as one."""
    return ("triattn", code_version()), ("torch", version("torch").partition("+")[0])


def _require_versions(versions: tuple[tuple[str, str], ...]) -> None:
    """Raises ConfigError if this node computes with others than the command."""
    here = dict(code_versions())
    for package, expected in versions:
        if here.get(package, expected) != expected:
            reason = f"{package} {here[package]}, and the command {expected}; install one version on all nodes"
            raise ConfigError(f"{socket.gethostname()} has {reason}")


@dataclass(frozen=True)
class Work:
    """What a worker does: `measure`, with checkpoints by name or folder, on rows of a task."""

    measure: Measure
    checkpoints: tuple[str, ...]
    device: str | None
    task: str
    language: str = "en"
    versions: tuple[tuple[str, str], ...] = field(default_factory=code_versions)  # of the process that asks

    @property
    def measure_name(self) -> str:
        """The function and its settings, the same in each process."""
        function = getattr(self.measure, "func", self.measure)
        return f"{function.__module__}.{function.__qualname__} {getattr(self.measure, 'keywords', {})}"


def result_schema(work: Work, over: Over) -> pa.Schema:
    """`row`, `error` (null unless the row was set aside) and `records`, a list of the row's entries in the table.

    The columns of the records are those of the first labelled example of the task.
    """
    examples = TASKS[work.task].examples(work.language)
    first = next(example for example in examples if example.label is not None)
    columns = pa.Schema.from_pandas(over([(1, first)]), preserve_index=False)
    record = pa.struct([(field.name, pa.string() if _is_text(field.type) else field.type) for field in columns])
    return pa.schema([("row", pa.int64()), ("error", pa.string()), ("records", pa.list_(record))])


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def count_alive(log: Path) -> int:
    """How many workers have touched their file in the last SILENT seconds, by the clock of the folder."""
    clock = log / "clock"
    clock.touch()
    now = clock.stat().st_mtime
    return sum(now - note.stat().st_mtime < SILENT for note in log.glob("*.json"))


def _beat(note: Path, worker: weakref.ref) -> None:
    """Touch a worker's file while there is the worker, and the file."""
    while worker() is not None:
        try:
            os.utime(note)
        except OSError:
            return
        time.sleep(BEAT)


class Worker:
    """schema: of the results.  log: folder in which each worker leaves a file when it starts, so that restarts can be
    counted, and touches it every BEAT seconds while it lives.  run: names a run of the job, which counts the attempts
    at its rows anew.  workers: of the run."""

    def __init__(self, work: Work, schema: pa.Schema, log: Path, run: str = "run", workers: int = 1):
        _require_versions(work.versions)
        self.task, self.schema, self.log, self.run = TASKS[work.task], schema, log, run
        with count_start(log, run, workers):
            self.over = work.measure([load(name, work.device) for name in work.checkpoints])
        start = {"host": socket.gethostname(), "process": os.getpid(), "date": datetime.now(UTC).isoformat()}
        note = log / f"{uuid.uuid4().hex}.json"
        write_whole(note, json.dumps(start))
        threading.Thread(target=_beat, args=(note, weakref.ref(self)), daemon=True).start()

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The results of rows (columns `row`, `place`, `text`, `error`), one for each, in their order.

        A row that cannot be read, or on which the measure fails, gets its `error`.  Where the machine fails, such as a
        GPU or its memory, the process ends, as it may be of no more use, and Ray starts it again; after the third
        death at the same rows, whether by such a failure or killed by the system, DataError is raised, which ends the
        job.
        """
        lines = batch["row"]
        if not len(lines):
            return self._measure(batch)
        note = self.log / f"failed-{self.run}-{lines[0]}-{lines[-1]}"
        with count_attempt(note, f"{lines[0]} to {lines[-1]}"):
            return self._measure(batch)

    def _measure(self, batch: pa.Table) -> pa.Table:
        lines, *columns = (batch[name].to_pylist() for name in ("row", "place", "text", "error"))
        rows = [(line, self._example(*values)) for line, *values in zip(lines, *columns)]
        return self._results(lines, *measure_batch(self.over, rows))

    def _example(self, place: str, text: str | None, error: str | None) -> object:
        if text is None:
            return DataError(error or f"{place}: no row")
        try:
            example = self.task.from_file(json.loads(text), place)
            example.check()
        except DataError as problem:
            return problem
        except InputError as problem:
            return DataError(f"{place}: {problem}")
        return example

    def _results(self, lines: list[int], table: pd.DataFrame, errors: Mapping[int, str]) -> pa.Table:
        record = self.schema.field("records").type.value_type
        counts = table.groupby("row").size() if len(table) else pd.Series(dtype=int)
        offsets = np.cumsum([0, *(int(counts.get(line, 0)) for line in lines)])
        places = {line: i for i, line in enumerate(lines)}
        table = table.iloc[np.argsort(table["row"].map(places).to_numpy(), kind="stable")]
        if len(table):
            table = table.reindex(columns=[field.name for field in record])  # some rows may have no labels
            flat = pa.Table.from_pandas(table, pa.schema(list(record)), preserve_index=False).combine_chunks()
            values = flat.to_struct_array()
            values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
        else:
            values = pa.array([], record)
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
        columns = [pa.array(lines, pa.int64()), pa.array([errors.get(line) for line in lines], pa.string()), lists]
        return pa.Table.from_arrays(columns, schema=self.schema)
