"""Shen et al. 2018a, "DiSAN": masked self-attention with its fusion gate, and source2token pooling, as slow loops.

One example in float64: x, h [n, D]; `keep` [n] says which tokens are real.  Written from the paper, never from the
package.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
C = 5.0


def sigmoid(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def relu(x: float) -> float:
    return max(0.0, x)


def pooling(
    x: Array, W1: Array, b1: Array, W2: Array, b2: Array, keep: Array, act: Callable[[float], float] = relu
) -> tuple[Array, Array]:
    """f(x_i) = W2 act(W1 x_i + b1) + b2, a softmax over i for each feature l, s_l = sum_i p_il x_il: (s, p)."""
    n, D = x.shape
    s, p = np.zeros(D), np.zeros((n, D))
    for l in range(D):
        scores = {}
        for i in range(n):
            if keep[i]:
                inner = [act(float(sum(W1[d, e] * x[i, e] for e in range(D)) + b1[d])) for d in range(D)]
                scores[i] = sum(W2[l, d] * inner[d] for d in range(D)) + b2[l]
        total = sum(np.exp(score) for score in scores.values())
        for i, score in scores.items():
            p[i, l] = np.exp(score) / total
            s[l] += p[i, l] * x[i, l]
    return s, p


def masked(h: Array, W1: Array, W2: Array, b: Array, keep: Array, forward: bool) -> tuple[Array, Array]:
    """s_j, and p[j, i, l]: i is attended to and stands before j (forward) or after it; zeros where there is no i."""
    n, D = h.shape
    s, p = np.zeros((n, D)), np.zeros((n, n, D))
    for j in range(n):
        seen = [i for i in range(n) if keep[i] and keep[j] and (i < j if forward else i > j)]
        for l in range(D):
            scores = [C * np.tanh((W1[l] @ h[i] + W2[l] @ h[j] + b[l]) / C) for i in seen]
            for i, score in zip(seen, scores):
                p[j, i, l] = np.exp(score) / sum(np.exp(scores))
                s[j, l] += p[j, i, l] * h[i, l]
    return s, p


def gated(a: Array, b: Array, W: Array, bias: Array) -> Array:
    """F * a + (1 - F) * b, F = sigmoid(W [a; b] + bias)."""
    output = np.zeros_like(a)
    for j in range(len(a)):
        both = np.concatenate([a[j], b[j]])
        for l in range(a.shape[1]):
            F = sigmoid(W[l] @ both + bias[l])
            output[j, l] = F * a[j, l] + (1 - F) * b[j, l]
    return output
