"""Average pooling of Tri-Attention, section V-B, as slow loops in float64: the mean of each cell's vectors."""

from __future__ import annotations

import numpy as np


def means(vectors: np.ndarray, runs: list[tuple[int, int]]) -> np.ndarray:
    """[cells, h] of vectors [n, h]."""
    output = np.zeros((len(runs), vectors.shape[1]))
    for cell, (start, end) in enumerate(runs):
        for token in range(start, end):
            for feature in range(vectors.shape[1]):
                output[cell, feature] += float(vectors[token, feature]) / (end - start)
    return output
