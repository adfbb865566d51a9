"""Measures of attention weights against cells that are known to carry the answer.

Weights and truth are arrays of one row, of any shape: cells of key × context, keys, or tokens of a joint sequence.
Equal weights are told apart by no measure in favour of the truth: a uniform map has the worst rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from triattn_core.tasks.laboratory import Example

RIGHT, LOOKED = ("wrong", "right"), ("did not look", "looked")


def truth_mask(example: Example, shape: tuple[int, ...]) -> np.ndarray:
    """The true cells of a row in weights of this shape; of two-way weights the truth's marginals."""
    mask, size = np.zeros(shape, bool), len(example.keys)
    for i, j in example.truth:
        if len(shape) == 2:
            mask[i, j] = True
        elif shape[0] == size:
            mask[i] = True
        else:
            mask[[1 + i, 1 + size + j]] = True
    return mask


def triangle_truth(example: Example, task: Any) -> np.ndarray:
    """The true cells [end, third node] of the pairs from the first node of what is asked for: the row of that pair, at
    the third nodes over which it can be composed.  task: of pairs of nodes, such as relation composition."""
    mask = np.zeros((len(task.NODES), len(task.NODES)), bool)
    _, end = task.ends(example.query)
    mask[end, [task.ends(example.keys[i])[1] for i, _ in task.answer_cells(example)]] = True
    return mask


def mass_on_truth(weights: np.ndarray, truth: np.ndarray) -> float:
    """The weight on true cells, of weights that sum to one."""
    return float(weights[truth].sum())


def even_share(truth: np.ndarray, cells: int | None = None) -> float:
    """The mass on truth of uniform weights; cells: over how many, by default all."""
    return float(truth.sum() / (cells or truth.size))


def first_rank(weights: np.ndarray, truth: np.ndarray) -> int:
    """The rank, from 1, of the strongest true cell; a false cell of equal weight comes before it."""
    return 1 + int((weights[~truth] >= weights[truth].max()).sum())


def average_precision(weights: np.ndarray, truth: np.ndarray) -> float:
    """The area under the precision-recall curve, in steps: the mean over true cells of the precision at each one's
    threshold, where all cells of equal weight are retrieved together."""
    thresholds = weights[truth]
    return float(np.mean([truth[weights >= threshold].mean() for threshold in thresholds]))


def measures(weights: np.ndarray, truth: np.ndarray, cells: int | None = None) -> dict[str, float]:
    """All measures of one row by name; cells: as of `even_share`.

    Raises ValueError where no cell is true, or the shapes differ.
    """
    if weights.shape != truth.shape or not truth.any():
        raise ValueError(f"weights {weights.shape} and truth {truth.shape} must agree, with a true cell")
    mass, even, rank = mass_on_truth(weights, truth), even_share(truth, cells), first_rank(weights, truth)
    return {
        "mass": mass,
        "even_share": even,
        "mass_over_even": mass / even,
        "hit_at_1": float(rank == 1),
        "first_rank": float(rank),
        "average_precision": average_precision(weights, truth),
    }


def quadrants(right: Sequence[bool], looked: Sequence[bool]) -> dict[str, float]:
    """Shares of rows by whether the answer is right and whether the strongest cell is a true one.

    "right, did not look" is a shortcut: the answer does not come from where it ought to.
    """
    pairs = list(zip(right, looked, strict=True))
    return {
        f"{RIGHT[answer]}, {LOOKED[attends]}": sum(pair == (bool(answer), bool(attends)) for pair in pairs) / len(pairs)
        for answer in (1, 0)
        for attends in (1, 0)
    }


def mean_measures(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over rows; empty of none."""
    return {name: float(np.mean([row[name] for row in rows])) for name in (rows[0] if rows else ())}
