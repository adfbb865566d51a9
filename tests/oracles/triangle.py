"""Algorithms 13 and 14 of Jumper et al. 2021 (supplement) as slow loops in float64, for one head; states are normed."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def starting(pairs: Array, keep: Array, Q: Array, K: Array, V: Array, b: Array) -> tuple[Array, Array]:
    """(weights [n, n, n], outputs [n, n, D]) of pairs [n, n, F] around the starting node."""
    n = len(pairs)
    weights, outputs = np.zeros((n, n, n)), np.zeros((n, n, len(V)))
    for i in range(n):
        for j in range(n):
            scores = [
                (Q @ pairs[i, j]) @ (K @ pairs[i, k]) / np.sqrt(len(Q)) + b @ pairs[j, k] if keep[i, k] else -np.inf
                for k in range(n)
            ]
            weights[i, j] = _softmax(scores)
            outputs[i, j] = sum(weights[i, j, k] * (V @ pairs[i, k]) for k in range(n))
    return weights, outputs


def ending(pairs: Array, keep: Array, Q: Array, K: Array, V: Array, b: Array) -> tuple[Array, Array]:
    """The same around the ending node."""
    n = len(pairs)
    weights, outputs = np.zeros((n, n, n)), np.zeros((n, n, len(V)))
    for i in range(n):
        for j in range(n):
            scores = [
                (Q @ pairs[i, j]) @ (K @ pairs[k, j]) / np.sqrt(len(Q)) + b @ pairs[k, i] if keep[k, j] else -np.inf
                for k in range(n)
            ]
            weights[i, j] = _softmax(scores)
            outputs[i, j] = sum(weights[i, j, k] * (V @ pairs[k, j]) for k in range(n))
    return weights, outputs


def _softmax(scores: list[float]) -> Array:
    if max(scores) == -np.inf:
        return np.zeros(len(scores))
    exponentials = np.exp(np.array(scores) - max(scores))
    return exponentials / exponentials.sum()
