"""Profiles, overlaps, weights of words and ablated heads, by loops."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np


def normalised(cube: np.ndarray) -> np.ndarray:
    """The rows of queries divided by their sums."""
    return np.array([row / row.sum() if row.sum() > 0 else row for row in cube.astype(float)])


def to_key(cube: np.ndarray) -> list[float]:
    rows = normalised(cube)
    return [sum(float(row[i].sum()) for row in rows) / len(rows) for i in range(cube.shape[1])]


def to_context(cube: np.ndarray) -> list[float]:
    rows = normalised(cube)
    return [sum(float(row[:, j].sum()) for row in rows) / len(rows) for j in range(cube.shape[2])]


def from_query(cube: np.ndarray) -> list[float]:
    mean = to_key(cube)
    rows = [[float(part.sum()) for part in row] for row in normalised(cube)]
    return [sum(p * log2(p / m) for p, m in zip(row, mean) if p > 0) for row in rows]


def overlap(left: np.ndarray, right: np.ndarray) -> float:
    pairs = zip(normalised(left), normalised(right))
    return sum(sqrt(a * b) for one, other in pairs for a, b in zip(one.ravel(), other.ravel())) / len(left)


def by_feature(tensor: np.ndarray) -> np.ndarray:
    """[key, feature] of P [query, key, feature]."""
    queries, keys, features = tensor.shape
    return np.array(
        [[sum(float(tensor[n, i, f]) for n in range(queries)) / queries for f in range(features)] for i in range(keys)]
    )


def mean_over_places(rows: list[tuple[list[float], list[int]]]) -> float:
    """rows: the values of a row's tokens and the places of the words among them."""
    values = [tokens[place] for tokens, places in rows for place in places]
    return sum(values) / len(values)


def mean_over_all_draws(rows: list[tuple[list[float], list[int]]]) -> float:
    """What the mean of infinitely many draws is: each token of a row as likely as the others."""
    places = sum(len(at) for _, at in rows)
    return sum(len(at) * sum(tokens) / len(tokens) for tokens, at in rows) / places
