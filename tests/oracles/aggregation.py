"""Folds of a cube of weights and what a position receives, as loops over single numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def folded(weights: np.ndarray, query: Sequence[int], key: Sequence[int], context: Sequence[int]) -> np.ndarray:
    """[query, key, context] → groups of each: keys and contexts added up, queries averaged.

    query, key, context: the group of each position, from 0.
    """
    sums = np.zeros((max(query) + 1, max(key) + 1, max(context) + 1))
    for i, q in enumerate(query):
        rows = sum(1 for other in query if other == q)
        for j, k in enumerate(key):
            for n, c in enumerate(context):
                sums[q, k, c] += float(weights[i, j, n]) / rows
    return sums


def received(weights: np.ndarray, axis: int) -> list[float]:
    """[head, query, key, context] → the share of all mass on each position of `axis`, 2 or 3."""
    total, sums = 0.0, [0.0] * weights.shape[axis]
    for place, value in np.ndenumerate(weights):
        sums[place[axis]] += float(value)
        total += float(value)
    return [one / total for one in sums]
