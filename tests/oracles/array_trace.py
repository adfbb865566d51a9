"""What an array of attention must be, by loops: sums of rows, the worst of them, and the softmax of scores."""

from __future__ import annotations

from itertools import product
from math import exp, inf

import numpy as np


def row_sums(values: np.ndarray, over: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The sum of each row, by the positions of the axes that are not summed over."""
    sums: dict[tuple[int, ...], float] = {}
    for at in product(*map(range, values.shape)):
        row = tuple(i for axis, i in enumerate(at) if axis not in over)
        sums[row] = sums.get(row, 0.0) + float(values[at])
    return sums


def worst_row(values: np.ndarray, over: tuple[int, ...]) -> tuple[tuple[int, ...], float]:
    """The row whose sum is furthest from one, rows of zeros left out, and its sum."""
    sums = row_sums(values, over)
    worst = max((row for row in sums if sums[row] != 0), key=lambda row: abs(sums[row] - 1))
    return worst, sums[worst]


def softmax(scores: np.ndarray, over: tuple[int, ...]) -> np.ndarray:
    """exp(s) over the sum of its row; a masked row (−inf alone) is zeros."""
    weights = np.zeros(scores.shape)
    rows: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for at in product(*map(range, scores.shape)):
        rows.setdefault(tuple(i for axis, i in enumerate(at) if axis not in over), []).append(at)
    for cells in rows.values():
        top = max(float(scores[at]) for at in cells)
        if top == -inf:
            continue
        total = sum(exp(float(scores[at]) - top) for at in cells)
        for at in cells:
            weights[at] = exp(float(scores[at]) - top) / total
    return weights


def nan_rows(values: np.ndarray) -> tuple[int, int, tuple[int, ...]]:
    """Of rows over the last axis: how many hold what is no number, how many there are, and the first that does."""
    rows = list(product(*map(range, values.shape[:-1])))
    bad = [row for row in rows if any(float(value) != float(value) for value in values[row])]
    return len(bad), len(rows), bad[0]
