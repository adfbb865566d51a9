"""Ranges of a table's numbers, to filter its rows by: lower ends belong to them, upper ones do not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from triattn_core.analysis.mining.case_table import Cases


def between_ranks(cases: Cases, column: str, low: float, high: float) -> tuple[float, float]:
    """The values of which shares `low` and `high` of the rows are at most as large."""
    values = cases.rows.values(column)
    ranks = [int(share * len(values)) for share in (low, high) if share < 1]
    values.partition(ranks)
    ends = [*values[ranks], *[np.inf] * (2 - len(ranks))]
    return float(ends[0]), float(ends[1])


def length_ranges(cases: Cases) -> dict[str, tuple[int, int]]:
    """Short, middling and long of this table, in tokens."""
    lengths = cases.lengths
    a, b = (int(np.interp(share * (lengths["n"].sum() - 1), *_steps(lengths))) for share in (1 / 3, 2 / 3))
    ends = {f"up to {a}": (0, a + 1)} | ({f"{a + 1} to {b}": (a + 1, b + 1)} if b > a else {})
    return ends | {f"over {b}": (b + 1, 1 << 31)}


def _steps(lengths: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last number in order of the rows of each length, and the lengths."""
    last = lengths["n"].cumsum().to_numpy()
    return np.stack([last - lengths["n"], last - 1], 1).ravel(), lengths["tokens"].to_numpy().repeat(2)
