"""COIN (Hu et al. 2021, "Context-aware Interaction Network for Question Matching"), Eqs. 1 to 16, in float64.

One pair and one token at a time: a sentence is a list of its real tokens' vectors, padding does not exist here.  `W`
holds weights by the names that the network gives them.  Written from the paper, never from the package.
"""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray
Weights = dict[str, Array]


def dense(x: Array, W: Weights, name: str) -> Array:
    """W x + b, without b where there is none."""
    return W[f"{name}.weight"] @ x + W.get(f"{name}.bias", 0.0)


def relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(row: Array) -> Array:
    shares = [np.exp(one - max(row)) for one in row]
    return np.array(shares) / sum(shares)


def convolution(h: list[Array], W: Weights, name: str) -> list[Array]:
    """relu of a convolution of kernel 3 over the tokens, zeros beyond the ends."""
    outputs = []
    for t in range(len(h)):
        total = np.array(W[f"{name}.bias"], float)
        for step in (-1, 0, 1):
            if 0 <= t + step < len(h):
                total = total + W[f"{name}.weight"][:, :, step + 1] @ h[t + step]
        outputs.append(relu(total))
    return outputs


def self_relevance(h: list[Array], W: Weights) -> Array:
    """Eq. 5: A of a sentence over itself."""
    look = [relu(dense(one, W, "context")) for one in h]
    return np.array([[sum(x * y) for y in look] for x in look])


def self_alignment(h: list[Array], W: Weights) -> tuple[Array, list[Array]]:
    """Eqs. 5 and 6: the weights of each token over its own sentence, and its context vector."""
    shares = np.array([softmax(row) for row in self_relevance(h, W)])
    return shares, [sum(share * one for share, one in zip(row, h)) for row in shares]


def relevance(h_a: list[Array], h_b: list[Array], c_a: list[Array], c_b: list[Array], W: Weights) -> Array:
    """Eq. 4: E [m, n]; with context vectors of zeros Eq. 1."""
    F_a = [relu(dense(h + c, W, "align")) for h, c in zip(h_a, c_a)]
    F_b = [relu(dense(h + c, W, "align")) for h, c in zip(h_b, c_b)]
    return np.array([[sum(x * y) for y in F_b] for x in F_a])


def aligned(E: Array, h_b: list[Array]) -> list[Array]:
    """Eqs. 2 and 3: what each row of E makes of the other sentence."""
    return [sum(share * one for share, one in zip(softmax(row), h_b)) for row in E]


def spread(shares: Array) -> float:
    """The mean over rows of their entropy, by that of a uniform row: 1 is uniform, 0 one key alone."""
    entropies = []
    for row in shares:
        entropies.append(sum(-share * math.log(share) for share in row if share > 0) / math.log(len(row)))
    return sum(entropies) / len(entropies)


def gate_fusion(h: Array, other: Array, W: Weights) -> tuple[Array, Array]:
    """Eqs. 7 to 12: the gate of a token and its new vector."""
    h1 = relu(dense(np.concatenate([h, other]), W, "fusion.joined"))
    h2 = relu(dense(np.concatenate([h, h - other]), W, "fusion.difference"))
    h3 = relu(dense(np.concatenate([h, h * other]), W, "fusion.product"))
    new = relu(dense(np.concatenate([h1, h2, h3]), W, "fusion.fuse"))
    f = sigmoid(dense(h, W, "fusion.gate_own") + dense(new, W, "fusion.gate_new"))
    return f, f * h + (1 - f) * new


def simple_fusion(h: Array, other: Array, W: Weights) -> Array:
    """The ablation: the two vectors, concatenated, through a feed-forward network."""
    return relu(dense(np.concatenate([h, other]), W, "fusion.fuse"))


def block(a: list[Array], b: list[Array], W: Weights, context: bool, fusion: str) -> tuple[list[Array], list[Array]]:
    """One interaction block: new vectors of both sentences."""
    nothing = [0.0 * one for one in a], [0.0 * one for one in b]
    c_a, c_b = (self_alignment(a, W)[1], self_alignment(b, W)[1]) if context else nothing
    E = relevance(a, b, c_a, c_b, W)
    fuse = {"simple": simple_fusion, "gate": lambda h, other, W: gate_fusion(h, other, W)[1]}[fusion]
    over_b, over_a = aligned(E, b), aligned(E.T, a)
    return [fuse(*one, W) for one in zip(a, over_b)], [fuse(*one, W) for one in zip(b, over_a)]


def pooling_weights(v: list[Array], W: Weights, head: int) -> Array:
    """Eq. 14: the share of each token in a head."""
    return softmax(np.array([W["pool.score.weight"][head] @ one for one in v]))


def pooling(v: list[Array], W: Weights, heads: int) -> Array:
    """Eqs. 13 to 15, a head after the other."""
    d, head_outputs = len(W["pool.value.weight"]) // heads, []
    for z in range(heads):
        S = pooling_weights(v, W, z)
        value = W["pool.value.weight"][z * d : (z + 1) * d]
        head_outputs.append(sum(share * (value @ one) for share, one in zip(S, v)))
    return np.concatenate(head_outputs)


POOLS = {"heads": pooling, "max": lambda v, W, heads: np.max(v, axis=0)}


def below(W: Weights, prefix: str) -> Weights:
    return {name.removeprefix(prefix): array for name, array in W.items() if name.startswith(prefix)}


def forward(
    a: list[Array],
    b: list[Array],
    W: Weights,
    layers: int,
    heads: int,
    context: bool = True,
    fusion: str = "gate",
    aggregation: bool = True,
    pool: str = "heads",
) -> Array:
    """Logits of a pair of embedded sentences: sections 2.1 to 2.4."""
    states = []
    for x in (a, b):
        inner = x
        for i in range(2):
            inner = convolution(inner, W, f"encode.{i}.convolution")
        states.append([np.concatenate(both) for both in zip(x, inner)])
    for i in range(layers):
        states = block(*states, below(W, f"layers.{i}."), context, fusion)
    vectors = []
    for x in states:
        x = convolution(x, W, "aggregate.convolution") if aggregation else x
        vectors.append(POOLS[pool](x, W, heads))
    left, right = vectors
    V = np.concatenate([left, right, left - right, left * right])  # Eq. 16
    return dense(relu(dense(V, W, "hidden")), W, "predict")
