"""The context shift of a Tri-Attention checkpoint: how far its first layer's attention moves with the context.

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
def context_shifts(tan: Tan, encoded: Encoded) -> list[tuple[float, np.ndarray]]:
    """For each row of a Tri-Attention network (`mean`, [query tokens] of A over B: the mean of D over heads), in bits.

    A large batch goes through in parts: its cubes are recorded.
    """
    shifts = []
    for part in _row_parts(encoded, tan.layers[0].attention.heads):
        *sequences, context = tan.projected(part)
        none = States(context.vectors[:, :0], context.keep[:, :0])
        found = zip(_weights(tan, *sequences, context), _weights(tan, *sequences, none))
        divergences = [row_divergence(p, q) for p, q in found]
        shifts += _means(divergences, [part.query.keep, part.key.keep])
    return shifts


def row_divergence(p: Tensor, q: Tensor) -> np.ndarray:
    """Jensen-Shannon divergence in bits over the last axis of two tensors of distributions: [..., key] → [...].

    In float64, as a sum of terms and not as a difference of entropies, which would lose digits where p is near q.
    """
    a, b = _shares(p), _shares(q)
    middle = (a + b) / 2
    return np.clip((rel_entr(a, middle) + rel_entr(b, middle)).sum(-1) / (2 * np.log(2)), 0, 1)


def _shares(weights: Tensor) -> np.ndarray:
    """Rows divided by their sum, to keep rounding errors out of the logarithms; rows of padding stay as they are."""
    values = weights.cpu().double().numpy()
    total = values.sum(-1, keepdims=True)
    return np.divide(values, total, out=np.zeros_like(values), where=total > 0)


def _weights(tan: Tan, a: States, b: States, context: States) -> list[Tensor]:
    """The weights [B, heads, query, key] of the first layer's two directions, summed over a context."""
    weights = []
    for query, key in ((a, b), (b, a)):
        with recording(lambda site: site.endswith("weight")) as record:
            tan.layers[0].attention(query, key, context, "asked")
        weights.append(record.sites["asked/weight"].tensor.sum(-1))
    return weights


def _means(of: list[np.ndarray], keeps: list[Tensor]) -> list[tuple[float, np.ndarray]]:
    """From D [B, heads, query] of each direction and which queries are real [B, query]."""
    tokens = [one.mean(1) for one in of]
    real = [keep.cpu().numpy() for keep in keeps]
    rows = [[one[row][kept[row]] for one, kept in zip(tokens, real)] for row in range(len(real[0]))]
    return [(float(np.concatenate(row).mean()), row[0]) for row in rows]


def _row_parts(encoded: Encoded, heads: int) -> Iterator[Encoded]:
    """Yields parts of similar size, as many rows at a time as a cube may hold, never a single row."""
    a, b, j = (one.keep.shape[1] for one in (encoded.query, encoded.key, encoded.context))
    most = LARGEST if encoded.query.keep.device.type == "cpu" else ON_GPU
    rows, size = max(2, most // max(1, heads * a * b * j)), len(encoded.query.keep)
    parts = -(-size // rows)
    for i in range(parts):
        yield select_rows(encoded, slice(size * i // parts, size * (i + 1) // parts))


def select_rows(encoded: Encoded, at: slice | Tensor) -> Encoded:
    """Some rows of a batch."""
    states = (_select_states(one, at) for one in (encoded.query, encoded.key, encoded.context))
    return Encoded(*states, None if encoded.pooled is None else encoded.pooled[at])


def _select_states(states: States, at: slice | Tensor) -> States:
    own = None if states.own is None else states.own[at]
    return replace(states, vectors=states.vectors[at], keep=states.keep[at], own=own)
