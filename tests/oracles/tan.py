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
    """Vectors [n, h], which of them are real [n], and each one's own context vector [n, h]."""

    vectors: Array
    keep: Array
    own: Array | None = None


def forward(
    a: Sequence, b: Sequence, context: Sequence, pooled: Array, W: Weights, mechanism: str, layers: int, heads: int
) -> Array:
    """Logits [labels]."""
    for layer in range(layers):
        here = below(W, f"layers.{layer}.")
        over_b = attend(a, b, context, below(here, "attention."), mechanism, heads)
        over_a = attend(b, a, context, below(here, "attention."), mechanism, heads)
        a = Sequence(joined(a.vectors, over_b, here), a.keep, a.own)
        b = Sequence(joined(b.vectors, over_a, here), b.keep, b.own)
        if mechanism != "bi" and layer < layers - 1:
            # Each context vector by itself, so that a token's own one is moved on as all are.
            a, b = (Sequence(x.vectors, x.keep, gelu(linear(x.own, below(here, "context.")))) for x in (a, b))
            context = Sequence(gelu(linear(context.vectors, below(here, "context."))), context.keep)
    left, right = mean(a), mean(b)
    together = np.concatenate([left, right, np.abs(left - right), pooled])
    return W["predict.weight"] @ together + W["predict.bias"]


def attend(query: Sequence, key: Sequence, context: Sequence, W: Weights, mechanism: str, heads: int) -> Array:
    """All heads side by side: [N, h]."""
    x, y = query.vectors, key.vectors
    if mechanism == "cbi":
        x, y = x + query.own, y + key.own
    q, k, v = linear(x, below(W, "query.")), linear(y, below(W, "key.")), linear(y, below(W, "value."))
    c = linear(context.vectors, below(W, "context.")) if mechanism == "tri" else None
    D = q.shape[1] // heads
    head_outputs = []
    for head in range(heads):
        part = np.s_[:, head * D : (head + 1) * D]
        m = {name: weight[head] for name, weight in below(W, "similarity.").items()}
        head_outputs.append(
            one_head(q[part], k[part], v[part], None if c is None else c[part], m, key.keep, context.keep)
        )
    return np.concatenate(head_outputs, axis=1)


def one_head(q: Array, k: Array, v: Array, c: Array | None, m: Weights, keep_key: Array, keep_context: Array) -> Array:
    """Additive relevance, Eq. 6 without and Eq. 10 with a context."""
    if c is None:
        return loops.bi_attention(lambda x, y: loops.add(x, y, m["W"], m["U"], m["p"]), q, k, v, keep_key)[2]

    def three(x: Array, y: Array, z: Array | None) -> float:
        return loops.tadd(x, y, z, m["W"], m["U"], m["H"], m["p"])

    return loops.tri_attention(three, loops.additive_value, q, k, v, c, c, keep_key, keep_context)[2]


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
