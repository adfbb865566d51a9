"""What BiDAF, DCN and QANet make of a matrix of similarities, and DCN's decoder, as slow loops in float64."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def softmax(values) -> list[float]:
    top = max(values)
    powers = [math.exp(one - top) for one in values]
    return [one / math.fsum(powers) for one in powers]


def mean(weights, vectors) -> list[float]:
    return [math.fsum(w * v[d] for w, v in zip(weights, vectors, strict=True)) for d in range(len(vectors[0]))]


def attention_flow(H: Array, U: Array, S: Array) -> Array:
    """Seo et al. 2017, section 2.4."""
    back = mean(softmax([max(row) for row in S]), H)
    found = []
    for h, row in zip(H, S):
        u = mean(softmax(row), U)
        found.append([*h, *u, *(a * b for a, b in zip(h, u)), *(a * b for a, b in zip(h, back))])
    return np.array(found)


def coattention(D: Array, Q: Array, L: Array) -> Array:
    """Xiong et al. 2017, section 2.2; the sentinels are the last rows of D and Q."""
    of_question = [mean(softmax([L[i, j] for i in range(len(D))]), D) for j in range(len(Q))]
    both = [[*q, *c] for q, c in zip(Q, of_question)]
    return np.array([mean(softmax(L[i]), both) for i in range(len(D))])


def context_query(C: Array, Q: Array, S: Array) -> Array:
    """Yu et al. 2018, section 2.2."""
    columns = [softmax([S[i, j] for i in range(len(C))]) for j in range(len(Q))]
    found = []
    for i, c in enumerate(C):
        row = softmax(S[i])
        a = mean(row, Q)
        b = np.zeros(len(c))
        for j, weight in enumerate(row):
            for k in range(len(C)):
                b += weight * columns[j][k] * C[k]
        found.append([*c, *a, *(x * y for x, y in zip(c, a)), *(x * y for x, y in zip(c, b))])
    return np.array(found)


def maxout(u: Array, state: Array, guess: Array, weights: dict[str, Array], pool: int) -> float:
    """Xiong et al. 2017, Eqs. 9 to 12, of one word."""
    d = len(state)
    r = [math.tanh(math.fsum(row * [*state, *guess])) for row in weights["given.weight"]]

    def most(name: str, given) -> list[float]:
        wide = [math.fsum(row * given) + b for row, b in zip(weights[f"{name}.weight"], weights[f"{name}.bias"])]
        return [max(wide[p * d + i] for p in range(pool)) for i in range(d)]

    first = most("one", np.array([*u, *r]))
    second = most("two", np.array(first))
    rows = zip(weights["both.weight"], weights["both.bias"])
    return max(math.fsum(row * np.array([*first, *second])) + b for row, b in rows)
