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

DIRECTIONS = ("a_over_b", "b_over_a")
ON_GPU = 1 << 28  # numbers of a cube at once


def with_moves(tan: Tan, encoded: Encoded) -> tuple[Tensor, list[tuple[float, np.ndarray]]]:
    """Outputs [B, outputs] of a Tri-Attention network and for each row (`mean`, [query tokens] of A over B: the mean of
    D over heads), in bits.

    The outputs are those of `tan(encoded)`.  A large batch goes through in parts: its cubes are recorded.
    """
    outputs, found = [], []
    for part in _parts(encoded, tan.layers[0].attention.heads):
        with recording(lambda site: site in [f"layer.0/{one}/weight" for one in DIRECTIONS]) as record:
            outputs.append(tan(part).float().cpu())
        shown = [record.sites[f"layer.0/{one}/weight"].tensor.sum(-1) for one in DIRECTIONS]
        of = [divergence(p, q) for p, q in zip(shown, _without_context(tan, part))]
        found += _means(of, [part.query.keep, part.key.keep])
    return torch.cat(outputs), found


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


def _without_context(tan: Tan, encoded: Encoded) -> list[Tensor]:
    """The weights [B, heads, query, key] of the first layer's two directions with no context at all."""
    a, b, context = encoded.query, encoded.key, encoded.context
    none, found = States(context.vectors[:, :0], context.keep[:, :0]), []
    for query, key in ((a, b), (b, a)):
        with recording(lambda site: site.endswith("weight")) as record:
            tan.layers[0].attention(query, key, none, "none")
        found.append(record.sites["none/weight"].tensor.sum(-1))
    return found


def _means(of: list[np.ndarray], keeps: list[Tensor]) -> list[tuple[float, np.ndarray]]:
    """From D [B, heads, query] of each direction and which queries are real [B, query]."""
    tokens = [one.mean(1) for one in of]
    real = [keep.cpu().numpy() for keep in keeps]
    rows = [[one[row][kept[row]] for one, kept in zip(tokens, real)] for row in range(len(real[0]))]
    return [(float(np.concatenate(row).mean()), row[0]) for row in rows]


def _parts(encoded: Encoded, heads: int) -> Iterator[Encoded]:
    """Some rows at a time, as many as a cube may hold: parts of like size, for a row alone is not compiled."""
    states = (encoded.query, encoded.key, encoded.context)
    a, b, j = (one.keep.shape[1] for one in states)
    most = LARGEST if encoded.pooled.device.type == "cpu" else ON_GPU
    rows, size = max(2, most // max(1, heads * a * b * j)), len(encoded.pooled)
    parts = -(-size // rows)
    for i in range(parts):
        at = slice(size * i // parts, size * (i + 1) // parts)
        yield Encoded(*(_take(one, at) for one in states), encoded.pooled[at])


def _take(states: States, at: slice) -> States:
    own = None if states.own is None else states.own[at]
    return replace(states, vectors=states.vectors[at], keep=states.keep[at], own=own)
