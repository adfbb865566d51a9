"""Over which axes recorded weights sum to one: the promise that views rely on, checked on the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triattn_core.trace.array_axes import row_tolerance


@dataclass(frozen=True)
class Rows:
    """The quantity of weights, and the attribute that says what they sum over: `sums_over`, or `runs_over` where
    something else has the rest."""

    quantity: str
    sums: dict[str, str]


def describe_rows(
    values: np.ndarray, sums_over: Sequence[str], dims: Sequence[str], columns: int, precision: str = "float32"
) -> Rows:
    """Returns the quantity and sums of weights; rows of zeros, whose query has nothing to attend to, are left out.

    precision: the type that the model computes in, by which a row may miss one.
    """
    if values.size and values.min() < 0:
        return Rows("contribution", {})
    tried = [sums_over, ("key",)] if tuple(sums_over) == ("query",) else [sums_over]  # slots are made even afterwards
    for axes in tried:
        sums = values.sum(tuple(map(dims.index, axes)), dtype=np.float64)
        if not ((np.abs(sums - 1) > row_tolerance(precision)) & (sums != 0)).any():
            return Rows("weight", {"sums_over": ",".join(axes)})
    return Rows("weight", {"runs_over": ",".join(sums_over)})
