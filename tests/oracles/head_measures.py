"""Measures of a head's weights and attention rollout, by loops."""

from __future__ import annotations

from math import log2

import numpy as np


def shares(row: np.ndarray) -> list[float]:
    total = sum(map(float, row))
    return [float(value) / total for value in row]


def filled(weights: np.ndarray) -> list[tuple[int, list[float]]]:
    """The rows that hold something, with their positions."""
    return [(n, shares(row)) for n, row in enumerate(weights) if sum(map(float, row)) > 0]


def entropy(weights: np.ndarray) -> float:
    rows = filled(weights)
    return sum(-sum(p * log2(p) for p in row if p > 0) for _, row in rows) / len(rows)


def distance(weights: np.ndarray) -> float:
    rows = filled(weights)
    return sum(sum(p * abs(n - i) for i, p in enumerate(row)) for n, row in rows) / len(rows)


def sink(weights: np.ndarray) -> float:
    rows = [row for _, row in filled(weights)]
    return max(sum(column) / len(rows) for column in zip(*rows))


def special(weights: np.ndarray, marked: list[int]) -> float:
    rows = filled(weights)
    return sum(sum(row[i] for i in marked) for _, row in rows) / len(rows)


def query_information(weights: np.ndarray) -> float:
    rows = [row for _, row in filled(weights)]
    mean = [sum(column) / len(rows) for column in zip(*rows)]
    return sum(sum(p * log2(p / m) for p, m in zip(row, mean) if p > 0) for row in rows) / len(rows)


def rollout(layers: list[np.ndarray]) -> np.ndarray:
    """Layers [head, n, n], the first first."""
    n = layers[0].shape[1]
    product = [[float(i == j) for j in range(n)] for i in range(n)]
    for heads in layers:
        step = [
            [(sum(float(h[i, j]) for h in heads) / len(heads) + float(i == j)) / 2 for j in range(n)] for i in range(n)
        ]
        product = [[sum(step[i][k] * product[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    return np.array(product)
