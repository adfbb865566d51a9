"""One weight of a distribution taken out, written as loops."""

from __future__ import annotations

import numpy as np


def without_cell(weights: np.ndarray, cell: tuple[int, ...], heads: list[int]) -> np.ndarray:
    """weights: [head, query, …] of one row; cell: of query and the axes after it."""
    changed = weights.astype(np.float64).copy()
    query, *place = cell
    for head in heads:
        total = sum(float(weight) for weight in weights[head, query].ravel())
        left = total - float(weights[head, query][tuple(place)])
        for at in np.ndindex(weights[head, query].shape):
            if at == tuple(place):
                changed[head, query][at] = 0.0
            else:
                changed[head, query][at] = weights[head, query][at] * total / left if left > 0 else 0.0
    return changed
