"""A measure with the schema of a mined table and no model: its answers follow from the row."""

from __future__ import annotations

import os
import signal
import time
import zlib
from functools import partial

import numpy as np
import pandas as pd

from triattn_core.analysis.mining.case_columns import make_frame


def slow_measure(bundles, seconds: float = 0.0, busy: bool = False):
    """seconds: that each row costs, beside what the table costs.  busy: it computes as models do, it does not sleep."""
    return partial(_over, seconds, busy)


def mined_measure(bundles, checkpoints, seconds: float = 0.0, busy: bool = False):
    """The same with all columns of a table of `triattn cases`.  checkpoints: (name, mechanism) of each."""
    return partial(_mined_over, checkpoints, seconds, busy)


def _mined_over(checkpoints, seconds, busy, rows):
    table = _over(seconds, busy, rows)
    thousandths = (1000 * table["confidence"]).round().astype(int)
    columns = {name: table[name] for name in ("row", "id", "label")} | {"tokens": 8 + thousandths % 30}
    for i, (name, mechanism) in enumerate(checkpoints):
        columns[f"{name} answer"] = answer = (table["answer"] + i) % 2
        columns[f"{name} confidence"] = (0.5 + 0.4999 * table["confidence"]).round(4)
        columns[f"{name} right"] = answer == table["label"]
        if mechanism == "tri":
            moved = [np.linspace(0, 0.3, 4 + number % 11, dtype=np.float32).round(4) for number in thousandths]
            columns[f"{name} moved at"] = moved
            columns[f"{name} moved"] = [float(row.mean()) for row in moved]
    return make_frame(columns, checkpoints)


def _over(seconds, busy, rows):
    end = time.process_time() + seconds * len(rows)
    while busy and time.process_time() < end:
        pass
    if not busy:
        time.sleep(seconds * len(rows))
    answers = [zlib.crc32(f"{example.text_a} {example.text_b}".encode()) % 1000 for _, example in rows]
    return pd.DataFrame(
        {
            "row": pd.Series([line for line, _ in rows], dtype="int32"),
            "id": pd.Series([str(example.id)[:80] for _, example in rows], dtype="str"),
            "label": pd.Series([-1 if example.label is None else example.label for _, example in rows], dtype="int16"),
            "answer": pd.Series([answer % 2 for answer in answers], dtype="int16"),
            "confidence": pd.Series([answer / 1000 for answer in answers], dtype="float32"),
        }
    )


def sick_measure(bundles, counter, times: int):
    """The same, on a machine that has no memory `times` times after the first, by which the columns are known.

    counter: a file with a byte for each time.
    """

    def fail():
        raise MemoryError("no room")

    return _failing(fail, counter, times)


def deadly_measure(bundles, counter, times: int, seconds: float = 0.0):
    """The same, on a machine that kills the process `times` times after the first, by which the columns are known.

    counter: as of `sick_measure`.  seconds: as of `slow_measure`.
    """
    return _failing(lambda: os.kill(os.getpid(), signal.SIGKILL), counter, times, seconds)


def _failing(fail, counter, times, seconds=0.0):
    def over(rows):
        with open(counter, "a+b") as file:
            file.write(b"x")
            count = file.tell()
        if 1 < count <= times + 1:
            fail()
        return _over(seconds, False, rows)

    return over
