"""The living form of TAN, its controls and its measures, as slow loops in float64 (one example, one head)."""

from __future__ import annotations

from itertools import product
from math import log2

import numpy as np

from tests.oracles.tan import Sequence, Weights, below, gelu, linear, mean

Array = np.ndarray


def compare(x: Array, attended: Array, W: Weights, vectors: int) -> Array:
    """`MLP([x; y; x - y; x * y])`, the last three of each attended vector."""
    rows = []
    for token, vector in zip(x, attended):
        parts = [token]
        for y in np.split(vector, vectors):
            parts += [y, token - y, token * y]
        rows.append(np.concatenate(parts))
    return linear(gelu(linear(np.array(rows), below(W, "mlp.0."))), below(W, "mlp.3."))


def pooled(of: Sequence) -> Array:
    """Mean and maximum of the real tokens; zeros where there is none."""
    real = [vector for vector, keep in zip(of.vectors, of.keep) if keep]
    most = np.array([max(column) for column in zip(*real)]) if real else np.zeros(of.vectors.shape[1])
    return np.concatenate([mean(of), most])


def own_context(x: Array, context: Sequence, A: Array, B: Array) -> Array:
    """`c_x = sum_j softmax_j(A x . B c_j / sqrt D) c_j`; zeros where there is no context."""
    real = [c for c, keep in zip(context.vectors, context.keep) if keep]
    contexts = []
    for token in x:
        scores = [np.exp((A @ token) @ (B @ c) / np.sqrt(len(token))) for c in real]
        contexts.append(sum(s * c for s, c in zip(scores, real)) / sum(scores) if real else np.zeros_like(token))
    return np.array(contexts)


def replaced(how: str, weights: Array, query: Array, key: Array, context: Array | None) -> Array:
    """What a control has in place of weights [N, I] or [N, I, J]; query, key, context: which tokens are real."""
    output = np.zeros_like(weights)
    cells = [(i,) for i in np.flatnonzero(key)]
    if context is not None:
        cells = list(product(np.flatnonzero(key), np.flatnonzero(context)))
    for n in range(len(weights)):
        if how == "even":
            for cell in cells:
                output[(n, *cell)] = 1 / len(cells)
        elif how == "mean_over_queries":
            output[n] = sum(weights[m] for m in np.flatnonzero(query)) / max(1, query.sum())
        elif context is None:
            output[n] = weights[n]
        else:
            for i, j in product(range(weights.shape[1]), range(weights.shape[2])):
                output[n, i, j] = weights[n, i].sum() * weights[n, :, j].sum()
    return output


def divergence(p: Array, q: Array) -> float:
    """KL(p || q) in bits."""
    return sum(a * log2(a / b) for a, b in zip(p.ravel(), q.ravel()) if a > 0)


def query_information(weights: Array, query: Array) -> float:
    """`mean_n KL(K[n] || K_mean)` over the real queries."""
    K = weights if weights.ndim == 2 else weights.sum(2)
    real = np.flatnonzero(query)
    average = sum(K[n] for n in real) / len(real)
    return sum(divergence(K[n], average) for n in real) / len(real)


def context_information(weights: Array, query: Array) -> float:
    """`mean_n KL(A[n] || K[n] x C[n])` over the real queries."""
    real = np.flatnonzero(query)
    each = [divergence(weights[n], np.outer(weights[n].sum(1), weights[n].sum(0))) for n in real]
    return sum(each) / len(real)
