"""How much context moved the attention of a Tri-Attention checkpoint: its first layer with the context, and with none.

    P[h,n,i] = sum_j A[h,n,i,j]      the weights of the first layer, summed over context
    Q[h,n,i]                         the same of the same layer with no context: the neutral element takes its place,
                                     and Tri-Attention falls back to Bi-Attention (Tri-Attention, section IV-A)
    D[h,n] = JSD(P[h,n,:], Q[h,n,:])  in bits, from 0 (context moved nothing) to 1

for both directions, A over B and B over A.  `mean` of an example is that of D over all heads and over all real query
tokens (cells, where texts are filtered) of both directions: each token of the pair counts the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from scipy.special import rel_entr
from torch import Tensor

from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.attention.tri import LARGEST
from triattn_core.models.encoder import Encoded
from triattn_core.models.tan import Tan

ON_GPU = 1 << 28  # numbers of a cube at once


@torch.inference_mode()
def moves(tan: Tan, encoded: Encoded) -> list[tuple[float, np.ndarray]]:
    """For each row of a Tri-Attention network (`mean`, [query tokens] of A over B: the mean of D over heads), in bits.

    A large batch goes through in parts: its cubes are recorded.
    """
    found = []
    for part in _parts(encoded, tan.layers[0].attention.heads):
        context = part.context
        none = States(context.vectors[:, :0], context.keep[:, :0])
        of = [divergence(p, q) for p, q in zip(_weights(tan, part, context), _weights(tan, part, none))]
        found += _means(of, [part.query.keep, part.key.keep])
    return found


def divergence(p: Tensor, q: Tensor) -> np.ndarray:
    """Jensen-Shannon divergence in bits over the last axis of two tensors of distributions: [..., key] → [...].

    In float64, as a sum of terms and not as a difference of entropies, which would lose digits where p is near q.
    """
    a, b = _shares(p), _shares(q)
    middle = (a + b) / 2
    return np.clip((rel_entr(a, middle) + rel_entr(b, middle)).sum(-1) / (2 * np.log(2)), 0, 1)


def _shares(weights: Tensor) -> np.ndarray:
    """Divided by their sum: float error must not reach the logarithms; rows of padding stay as they are."""
    found = weights.cpu().double().numpy()
    total = found.sum(-1, keepdims=True)
    return np.divide(found, total, out=np.zeros_like(found), where=total > 0)


def _weights(tan: Tan, encoded: Encoded, context: States) -> list[Tensor]:
    """The weights [B, heads, query, key] of the first layer's two directions, summed over a context."""
    a, b, found = encoded.query, encoded.key, []
    for query, key in ((a, b), (b, a)):
        with recording(lambda site: site.endswith("weight")) as record:
            tan.layers[0].attention(query, key, context, "asked")
        found.append(record.sites["asked/weight"].tensor.sum(-1))
    return found


def _means(of: list[np.ndarray], keeps: list[Tensor]) -> list[tuple[float, np.ndarray]]:
    """From D [B, heads, query] of each direction and which queries are real [B, query]."""
    tokens = [one.mean(1) for one in of]
    real = [keep.cpu().numpy() for keep in keeps]
    rows = [[one[row][kept[row]] for one, kept in zip(tokens, real)] for row in range(len(real[0]))]
    return [(float(np.concatenate(row).mean()), row[0]) for row in rows]


def _parts(encoded: Encoded, heads: int) -> Iterator[Encoded]:
    """Some rows at a time, as many as a cube may hold: parts of like size, for a row alone is not compiled."""
    a, b, j = (one.keep.shape[1] for one in (encoded.query, encoded.key, encoded.context))
    most = LARGEST if encoded.pooled.device.type == "cpu" else ON_GPU
    rows, size = max(2, most // max(1, heads * a * b * j)), len(encoded.pooled)
    parts = -(-size // rows)
    for i in range(parts):
        yield take(encoded, slice(size * i // parts, size * (i + 1) // parts))


def take(encoded: Encoded, at: slice | Tensor) -> Encoded:
    """Some rows of a batch."""
    states = (_take(one, at) for one in (encoded.query, encoded.key, encoded.context))
    return Encoded(*states, encoded.pooled[at])


def _take(states: States, at: slice | Tensor) -> States:
    own = None if states.own is None else states.own[at]
    return replace(states, vectors=states.vectors[at], keep=states.keep[at], own=own)
