"""The Tri-Attention network after its encoder (Yu et al., "Tri-Attention", section V), in float64, example by example.

Vectors are plain arrays, `keep` says which are real, and the weights are a dict of arrays by name.  The attention of
one head is that of `attention.py`, with the additive relevance; nothing here comes from the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, sqrt

import numpy as np

from tests.oracles import attention as loops

Array = np.ndarray
Weights = dict[str, Array]


@dataclass
class Sequence:
    """Vectors [n, h], which of them are real [n], and each one's place in the context [n]."""

    vectors: Array
    keep: Array
    places: Array | None = None


def forward(
    a: Sequence, b: Sequence, context: Sequence, pooled: Array, W: Weights, mechanism: str, layers: int, heads: int
) -> Array:
    """Logits [labels]."""
    for layer in range(layers):
        own = below(W, f"layers.{layer}.")
        over_b = attend(a, b, context, below(own, "attention."), mechanism, heads)
        over_a = attend(b, a, context, below(own, "attention."), mechanism, heads)
        a = Sequence(joined(a.vectors, over_b, own), a.keep, a.places)
        b = Sequence(joined(b.vectors, over_a, own), b.keep, b.places)
        if mechanism != "bi" and layer < layers - 1:
            context = Sequence(gelu(linear(context.vectors, below(own, "context."))), context.keep)
    left, right = mean(a), mean(b)
    together = np.concatenate([left, right, np.abs(left - right), pooled])
    return W["predict.weight"] @ together + W["predict.bias"]


def attend(query: Sequence, key: Sequence, context: Sequence, W: Weights, mechanism: str, heads: int) -> Array:
    """All heads side by side: [N, h]."""
    x, y = query.vectors, key.vectors
    if mechanism == "cbi":
        x, y = x + own_context(query, context), y + own_context(key, context)
    q, k, v = linear(x, below(W, "query.")), linear(y, below(W, "key.")), linear(y, below(W, "value."))
    c = linear(context.vectors, below(W, "context.")) if mechanism == "tri" else None
    D = q.shape[1] // heads
    found = []
    for head in range(heads):
        part = np.s_[:, head * D : (head + 1) * D]
        m = {name: weight[head] for name, weight in below(W, "similarity.").items()}
        found.append(one_head(q[part], k[part], v[part], None if c is None else c[part], m, key.keep, context.keep))
    return np.concatenate(found, axis=1)


def one_head(q: Array, k: Array, v: Array, c: Array | None, m: Weights, keep_key: Array, keep_context: Array) -> Array:
    """Additive relevance, Eq. 6 without and Eq. 10 with a context."""
    if c is None:
        return loops.bi_attention(lambda x, y: loops.add(x, y, m["W"], m["U"], m["p"]), q, k, v, keep_key)[2]

    def three(x: Array, y: Array, z: Array | None) -> float:
        return loops.tadd(x, y, z, m["W"], m["U"], m["H"], m["p"])

    return loops.tri_attention(three, loops.additive_value, q, k, v, c, c, keep_key, keep_context)[2]


def own_context(of: Sequence, context: Sequence) -> Array:
    """The context vector at each token's place; nothing where that place is not real."""
    found = np.zeros_like(of.vectors)
    for token, place in enumerate(of.places):
        if context.keep[place]:
            found[token] = context.vectors[place]
    return found


def joined(old: Array, attended: Array, W: Weights) -> Array:
    """Residual connection and layer norm, where there are weights for it; else what attention gave."""
    if "norm.weight" not in W:
        return attended
    rows = []
    for x in old + attended:
        centred = x - sum(x) / len(x)
        rows.append(centred / sqrt(sum(centred**2) / len(x) + 1e-5) * W["norm.weight"] + W["norm.bias"])
    return np.array(rows)


def mean(of: Sequence) -> Array:
    """Over the real tokens; zeros where there is none."""
    real = [vector for vector, keep in zip(of.vectors, of.keep) if keep]
    return sum(real) / len(real) if real else np.zeros(of.vectors.shape[1])


def gelu(x: Array) -> Array:
    """`x P(X <= x)` of a standard normal X (Hendrycks and Gimpel 2016)."""
    return np.vectorize(lambda number: number * (1 + erf(number / sqrt(2))) / 2)(x)


def linear(vectors: Array, W: Weights) -> Array:
    """`W x + b` of each vector."""
    return np.array([W["weight"] @ x + W["bias"] for x in vectors])


def below(W: Weights, prefix: str) -> Weights:
    """The weights whose names begin with the prefix, named by the rest."""
    return {name.removeprefix(prefix): weight for name, weight in W.items() if name.startswith(prefix)}
