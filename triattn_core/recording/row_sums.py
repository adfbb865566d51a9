"""Over which axes recorded weights sum to one: the promise that views rely on, checked on the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CLOSE = 1e-3  # half precision rounds a weight to about that


@dataclass(frozen=True)
class Rows:
    """The quantity of weights, and the attribute that says what they sum over: `sums_over`, or `runs_over` where
    something else has the rest."""

    quantity: str
    sums: dict[str, str]


def describe_rows(values: np.ndarray, sums_over: Sequence[str], dims: Sequence[str], columns: int) -> Rows:
    """Returns the quantity and sums of weights; rows of zeros, whose query has nothing to attend to, are left out."""
    if values.size and values.min() < 0:
        return Rows("contribution", {})
    axes = tuple(dims.index(axis) for axis in sums_over)
    sums = values.sum(axes, dtype=np.float64)
    off = (np.abs(sums - 1) > CLOSE) & (sums != 0)
    return Rows("weight", {"runs_over" if off.any() else "sums_over": ",".join(sums_over)})
