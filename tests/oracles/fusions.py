"""The context fusions beside MTSA and DiSA (Shen et al. 2019, section 4) and the sentence model around a block, as slow
loops in float64.

One text and one token at a time: x [n, e] are the real tokens alone, padding does not exist here.  `W` holds weights by
the names that the network gives them.  Written from the papers, never from the package.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.oracles import directional
from tests.oracles.questions import bilstm, sigmoid
from tests.oracles.systems import linear, under

Array = np.ndarray
Weights = dict[str, Array]
Block = Callable[[Array, Weights], Array]

ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0.0), "elu": lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)}


def bi_lstm(x: Array, W: Weights) -> Array:
    return bilstm(x, {f"one.{name}": weight for name, weight in W.items()}, "one")


def bi_gru(x: Array, W: Weights) -> Array:
    """Chung et al. 2014, both directions; the reset gate after the product, as torch has it."""
    directions = []
    for end, step in (("", 1), ("_reverse", -1)):
        V, U, b, c = (W[f"rnn.{name}_l0{end}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        h, states = np.zeros(U.shape[1]), []
        for vector in x[::step]:
            (r, z, new), (R, Z, old) = np.split(V @ vector + b, 3), np.split(U @ h + c, 3)
            z = sigmoid(z + Z)
            h = z * h + (1 - z) * np.tanh(new + sigmoid(r + R) * old)
            states.append(h)
        directions.append(np.array(states)[::step])
    return np.concatenate(directions, -1)


def convolution(x: Array, W: Weights, name: str, size: int) -> Array:
    """Each token in the middle of a window of `size`, an even one longer to the right; zeros beyond the ends."""
    outputs = []
    for t in range(len(x)):
        total = W[f"{name}.bias"].copy()
        for step in range(size):
            at = t + step - (size - 1) // 2
            if 0 <= at < len(x):
                total += W[f"{name}.weight"][:, :, step] @ x[at]
        outputs.append(total)
    return np.array(outputs)


def multi_cnn(x: Array, W: Weights) -> Array:
    """Kim 2014: 3-, 4- and 5-grams."""
    grams = [convolution(x, W, f"convolutions.{number}", size) for number, size in enumerate((3, 4, 5))]
    return ACTIVATIONS["relu"](np.concatenate(grams, -1))


def hierarchical_cnn(x: Array, W: Weights) -> Array:
    """Gehring et al. 2017: three layers of 5-grams, v([a; b]) = a * sigmoid(b), each added to its input."""
    x = linear(x, W, "first")
    for layer in range(3):
        a, b = np.split(convolution(x, W, f"convolutions.{layer}", 5), 2, -1)
        x = x + a * sigmoid(b)
    return x


def pooled(x: Array, W: Weights, act: str) -> Array:
    """Source2token pooling of a whole sequence: one vector."""
    part = [W[name] for name in ("first.weight", "first.bias", "second.weight", "second.bias")]
    return directional.pooling(x, *part, np.ones(len(x), bool), ACTIVATIONS[act])[0]


def block_attention(x: Array, W: Weights, r: int, forward: bool, act: str) -> Array:
    """One direction of Shen et al. 2018c: attention within blocks of r tokens, then between what they are pooled to."""

    def attended(rows: Array, name: str) -> Array:
        W1, W2, b = (W[f"{name}.{one}"] for one in ("key.weight", "query.weight", "query.bias"))
        return directional.masked(rows, W1, W2, b, np.ones(len(rows), bool), forward)[0]

    blocks = [range(start, min(start + r, len(x))) for start in range(0, len(x), r)]
    h = np.concatenate([attended(x[block], "within") for block in blocks])
    v = np.array([pooled(h[block], under(W, "pool"), act) for block in blocks])
    e = directional.gated(attended(v, "between"), v, W["gate.gate.weight"], W["gate.gate.bias"])
    together = np.array([[*x[t], *h[t], *e[t // r]] for t in range(len(x))])
    G = sigmoid(linear(together, W, "share"))
    return G * ACTIVATIONS[act](linear(together, W, "fuse")) + (1 - G) * x


def bi_blosa(x: Array, W: Weights, r: int, act: str) -> Array:
    """Forward, then backward."""
    both = []
    for at, forward in enumerate((True, False)):
        hidden = ACTIVATIONS[act](linear(x, W, f"hidden.{at}"))
        both.append(block_attention(hidden, under(W, f"blocks.{at}"), r, forward, act))
    return np.concatenate(both, -1)


def sentence(x: Array, W: Weights, block: Block, layers: int, act: str) -> Array:
    """A text's vector: blocks one on the other, all but the first added to their input, then pooling."""
    x = ACTIVATIONS[act](linear(x, W, "first"))
    for layer in range(layers):
        fused = block(x, under(W, f"layers.{layer}"))
        x = x + fused if layer else fused
    return pooled(x, under(W, "pool"), act)


def logits(texts: list[Array], W: Weights, block: Block, layers: int, act: str) -> Array:
    """Of one text, or of premise and hypothesis: [p, h, p - h, p * h]."""
    vectors = [sentence(x, W, block, layers, act) for x in texts]
    if len(vectors) == 2:
        p, h = vectors
        vectors += [p - h, p * h]
    return linear(ACTIVATIONS[act](linear(np.concatenate(vectors)[None], W, "hidden")), W, "predict")[0]
