"""Section III and IV of Yu et al., "Tri-Attention", written out as slow loops in float64.

One example and one head at a time: query [N, D], key [I, D], value [I, D], context [J, D].  `None` in the place of a
context means that there is none; the neutral element (0 where context is added, 1 where it multiplies) then stands
where the projected context would have stood.  Written from the paper, never from the package, which it judges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
Two = Callable[[Array, Array], float]  # F(q, k), Eq. 3
Three = Callable[[Array, Array, Array | None], float]  # F(q, k, c); c is None where there is no context
Integrate = Callable[[Array, Array | None], Array]  # v_c(i, j)


# --- relevance of one query and one key: Eqs. 6 to 9 ---


def add(q: Array, k: Array, W: Array, U: Array, p: Array) -> float:
    """Eq. 6."""
    return float(sum(p[d] * np.tanh(W[d] @ q + U[d] @ k) for d in range(len(p))))


def dp(q: Array, k: Array) -> float:
    """Eq. 7."""
    return float(sum(q[d] * k[d] for d in range(len(q))))


def sdp(q: Array, k: Array) -> float:
    """Eq. 8."""
    return dp(q, k) / np.sqrt(len(q))


def bili(q: Array, k: Array, W: Array) -> float:
    """Eq. 9."""
    return float(sum(q[d] * W[d, e] * k[e] for d in range(len(q)) for e in range(len(k))))


# --- relevance of one query, one key and one context token: Eqs. 10 to 14 ---


def tadd(q: Array, k: Array, c: Array | None, W: Array, U: Array, H: Array, p: Array) -> float:
    """Eq. 10."""
    added = np.zeros(len(p)) if c is None else H @ c
    return float(sum(p[d] * np.tanh(W[d] @ q + U[d] @ k + added[d]) for d in range(len(p))))


def tdp(q: Array, k: Array, c: Array | None) -> float:
    """Eq. 11."""
    times = np.ones(len(q)) if c is None else c
    return float(sum(q[d] * k[d] * times[d] for d in range(len(q))))


def tsdp(q: Array, k: Array, c: Array | None) -> float:
    """Eq. 12."""
    return tdp(q, k, c) / np.sqrt(len(q))


def strassen(q: Array, k: Array, c: Array | None) -> float:
    """The control of third-order scores."""
    pairs = [(q, k)] if c is None else [(q, k), (q, c), (k, c)]
    return sum(dp(*pair) for pair in pairs) / float(np.sqrt(len(q)))


def tree(q: Array, k: Array, c: Array | None) -> float:
    """Poly-attention's tree of two edges (arXiv 2602.02422)."""
    pairs = [(q, k)] if c is None else [(q, k), (k, c)]
    return sum(dp(*pair) for pair in pairs) / float(np.sqrt(len(q)))


def determinant(q: Array, k: Array, c: Array | None) -> float:
    """2-simplicial attention's determinant (arXiv 2507.02754, Eq. 8); the features left over as a product."""
    if c is None:
        return sdp(q, k)
    total = 0.0
    for start in range(0, len(q) - 2, 3):
        block = slice(start, start + 3)
        total += float(np.linalg.det(np.stack([q[block], k[block], c[block]])))
    for d in range(len(q) - len(q) % 3, len(q)):
        total += q[d] * k[d] * c[d]
    return total / float(np.sqrt(len(q)))


def trili(q: Array, k: Array, c: Array | None, W: Array, U: Array, H: Array) -> float:
    """Eq. 14, the economic form."""
    times = np.ones(len(q)) if c is None else H @ c
    return float(sum((W[d] @ q) * (U[d] @ k) * times[d] for d in range(len(q))))


def trili_full(q: Array, k: Array, c: Array | None, w: Array) -> float:
    """Eq. 13, the full form."""
    times = np.ones(len(q)) if c is None else c
    total = 0.0
    for d in range(len(q)):
        for e in range(len(k)):
            for f in range(len(times)):
                total += w[d, e, f] * q[d] * k[e] * times[f]
    return float(total)


def matrix(two: Two, query: Array, key: Array) -> Array:
    """F(q_n, k_i) for all pairs: [N, I]."""
    return np.array([[two(q, k) for k in key] for q in query]).reshape(len(query), len(key))


def cube(three: Three, query: Array, key: Array, context: Array | None) -> Array:
    """F(q_n, k_i, c_j) for all triples: [N, I, J]; [N, I, 1] without context."""
    tokens = [None] if context is None else list(context)
    scores = [[[three(q, k, c) for c in tokens] for k in key] for q in query]
    return np.array(scores).reshape(len(query), len(key), len(tokens))


# --- weights: Eqs. 4 and 15 ---


def softmax(relevance: Array, keep_key: Array) -> Array:
    """Eq. 4 over the keys that are real, query by query; no real key, no weight."""
    weights = np.zeros_like(relevance)
    for n in range(relevance.shape[0]):
        real = [i for i in range(relevance.shape[1]) if keep_key[i]]
        if not real:
            continue
        top = max(relevance[n, i] for i in real)
        total = sum(np.exp(relevance[n, i] - top) for i in real)
        for i in real:
            weights[n, i] = np.exp(relevance[n, i] - top) / total
    return weights


def joint_softmax(relevance: Array, keep_key: Array, keep_context: Array, distinct: bool = False) -> Array:
    """Eq. 15: one softmax a query, over all pairs of a real key and a real context token; if `distinct`, of pairs at
    different places alone."""
    weights = np.zeros_like(relevance)
    for n in range(relevance.shape[0]):
        real = [
            (i, j)
            for i in range(relevance.shape[1])
            for j in range(relevance.shape[2])
            if keep_key[i] and keep_context[j] and not (distinct and i == j)
        ]
        if not real:
            continue
        top = max(relevance[n, i, j] for i, j in real)
        total = sum(np.exp(relevance[n, i, j] - top) for i, j in real)
        for i, j in real:
            weights[n, i, j] = np.exp(relevance[n, i, j] - top) / total
    return weights


# --- contextual value: Eqs. 16 to 18 ---


def additive_value(v: Array, c: Array | None) -> Array:
    """Eq. 16."""
    return v + (np.zeros(len(v)) if c is None else c)


def multiplicative_value(v: Array, c: Array | None) -> Array:
    """Eq. 17."""
    return v * (np.ones(len(v)) if c is None else c)


def bilinear_value(v: Array, c: Array | None, U: Array, H: Array) -> Array:
    """Eq. 18; U and H are the paper's U' and H'."""
    return (U @ v) * (np.ones(len(v)) if c is None else H @ c)


def plain_value(v: Array, c: Array | None) -> Array:
    """Ours: the value alone."""
    return v


def context_value(v: Array, c: Array | None) -> Array:
    """Poly-attention's: the context alone."""
    return v if c is None else c


def modulated_value(v: Array, c: Array | None) -> Array:
    """Ours: v * (1 + c); v where there is no context."""
    return v if c is None else np.array([v[d] * (1 + c[d]) for d in range(len(v))])


def value_and_product(v: Array, c: Array | None) -> Array:
    """Ours: v, and beside it v * c."""
    return np.concatenate([v, multiplicative_value(v, c)])


def mix(weights: Array, value: Array, context: Array | None, integrate: Integrate) -> Array:
    """Eq. 19: the weighted sum of contextual values, [N, D]."""
    tokens = [None] if context is None else list(context)
    output = np.zeros((weights.shape[0], len(integrate(value[0], tokens[0]))))
    for n in range(weights.shape[0]):
        for i in range(len(value)):
            for j, c in enumerate(tokens):
                output[n] += weights[n, i, j] * integrate(value[i], c)
    return output


# --- the three mechanisms, end to end ---


def bi_attention(two: Two, query: Array, key: Array, value: Array, keep_key: Array) -> tuple[Array, Array, Array]:
    """Eqs. 3 to 5: relevance [N, I], weights [N, I] and output [N, D]."""
    relevance = matrix(two, query, key)
    weights = softmax(relevance, keep_key)
    output = np.zeros((len(query), value.shape[1]))
    for n in range(len(query)):
        for i in range(len(key)):
            output[n] += weights[n, i] * value[i]
    return relevance, weights, output


def c_bi_attention(
    two: Two, query: Array, key: Array, value: Array, at_query: Array, at_key: Array, at_value: Array, keep_key: Array
) -> tuple[Array, Array, Array]:
    """Each token carries the context vector of its own position, then Bi-Attention: F(q + c_q, k + c_k), v + c_k."""
    return bi_attention(two, query + at_query, key + at_key, value + at_value, keep_key)


def tri_attention(
    three: Three,
    integrate: Integrate,
    query: Array,
    key: Array,
    value: Array,
    context: Array,
    value_context: Array,
    keep_key: Array,
    keep_context: Array,
) -> tuple[Array, Array, Array]:
    """Eqs. 14 to 19: relevance [N, I, J], weights [N, I, J], output [N, D]; J is 1 without a real context token.

    `value_context` is the context as the contextual value sees it: the same vectors in the paper.
    """
    there = bool(np.any(keep_context))
    seen, mixed, keep = (context, value_context, keep_context) if there else (None, None, np.array([True]))
    relevance = cube(three, query, key, seen)
    weights = joint_softmax(relevance, keep_key, keep)
    return relevance, weights, mix(weights, value, mixed, integrate)


# --- for the comparisons ---


def each(function: Callable[..., Array], ranks: tuple[int, ...], *arrays: Array) -> Array:
    """`function` for every element of the leading dimensions; `ranks` are the dimensions it takes of each array."""
    leads = [array.shape[: array.ndim - rank] for array, rank in zip(arrays, ranks)]
    lead = np.broadcast_shapes(*leads)
    full = [np.broadcast_to(array, lead + array.shape[array.ndim - rank :]) for array, rank in zip(arrays, ranks)]
    values = [function(*(array[index] for array in full)) for index in np.ndindex(*lead)]
    return np.array(values).reshape(lead + np.asarray(values[0]).shape)


def gradients(function: Callable[..., Array], arrays: list[Array], onto: Array, step: float = 1e-6) -> list[Array]:
    """Central differences of `sum(function(*arrays) * onto)`, one number of one array at a time."""
    slopes = [np.zeros_like(array) for array in arrays]
    for number, array in enumerate(arrays):
        for index in np.ndindex(*array.shape):
            sides = []
            for sign in (1, -1):
                moved = [other.copy() for other in arrays]
                moved[number][index] += sign * step
                sides.append(float(np.sum(function(*moved) * onto)))
            slopes[number][index] = (sides[0] - sides[1]) / (2 * step)
    return slopes
