"""A measure with the schema of a mined table and no model: its answers follow from the row."""

from __future__ import annotations

import time
import zlib
from functools import partial

import pandas as pd

from triattn_core.analysis.mining.miner import TablePart
from triattn_core.errors import DataError


def slow_measure(bundles, seconds: float = 0.0, busy: bool = False):
    """seconds: that each row costs, beside what the table costs.  busy: it computes as models do, it does not sleep."""
    return partial(_over, seconds, busy)


def _over(seconds, busy, rows):
    rows = list(rows)
    good = [(line, example) for line, example in rows if not isinstance(example, DataError)]
    end = time.process_time() + seconds * len(good)
    while busy and time.process_time() < end:
        pass
    if not busy:
        time.sleep(seconds * len(good))
    answers = [zlib.crc32(f"{example.text_a} {example.text_b}".encode()) % 1000 for _, example in good]
    columns = {
        "row": pd.Series([line for line, _ in good], dtype="int32"),
        "id": pd.Series([str(example.id)[:80] for _, example in good], dtype="str"),
        "label": pd.Series([-1 if example.label is None else example.label for _, example in good], dtype="int16"),
        "answer": pd.Series([answer % 2 for answer in answers], dtype="int16"),
        "confidence": pd.Series([answer / 1000 for answer in answers], dtype="float32"),
    }
    aside = tuple(str(example) for _, example in rows if isinstance(example, DataError))
    yield TablePart(pd.DataFrame(columns), aside, rows[-1][0] if rows else 0)
