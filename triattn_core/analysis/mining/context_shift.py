"""The context shift of a Tri-Attention checkpoint: how far its first layer's attention moves with the context.

    P[h,n,i] = sum_j A[h,n,i,j]      the weights of the first layer, summed over context
    Q[h,n,i]                         the same without context: with the neutral element in its place, Tri-Attention
                                     reduces to Bi-Attention (Tri-Attention, section IV-A)
    D[h,n] = JSD(P[h,n,:], Q[h,n,:])  in bits, from 0 (context moved nothing) to 1

for both directions, A over B and B over A.  The `mean` of an example is the mean of D over all heads and all real query
tokens (cells, for long texts) of both directions: each token of the pair has equal weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np
import torch
from scipy.special import rel_entr
from torch import Tensor

from triattn_core.attention.states import States
from triattn_core.attention.tap import keep_weights, recording
from triattn_core.attention.tri import LARGEST
from triattn_core.models.encoder import Encoded
from triattn_core.models.tan import Interaction, Tan
from triattn_core.trace.site import Site

ON_GPU = 1 << 28  # most elements of a cube at once


@torch.inference_mode()
def context_shifts(tan: Tan, encoded: Encoded) -> list[tuple[float, np.ndarray]]:
    """For each row of a Tri-Attention network (`mean`, [query tokens] of A over B: the mean of D over heads), in bits.

    A large batch runs in parts, because its cubes are recorded.
    """
    shifts = []
    for part in _row_parts(encoded, cast(Interaction, tan.layers[0]).attention.heads):
        a, b, context = tan.project(part)
        no_context = States(context.vectors[:, :0], context.keep[:, :0])
        weight_pairs = zip(_weights(tan, a, b, context), _weights(tan, a, b, no_context))
        divergences = [row_divergence(p, q) for p, q in weight_pairs]
        shifts += _means(divergences, [part.query.keep, part.key.keep])
    return shifts


def row_divergence(p: Tensor, q: Tensor) -> np.ndarray:
    """Jensen-Shannon divergence in bits over the last axis of two tensors of distributions: [..., key] → [...].

    In float64, as a sum of terms rather than a difference of entropies, which would lose digits if p is close to q.
    """
    a, b = _shares(p), _shares(q)
    middle = (a + b) / 2
    return np.clip((rel_entr(a, middle) + rel_entr(b, middle)).sum(-1) / (2 * np.log(2)), 0, 1)


def _shares(weights: Tensor) -> np.ndarray:
    """Rows divided by their sum, to keep rounding errors out of the logarithms; padding rows are unchanged."""
    values = weights.cpu().double().numpy()
    total = values.sum(-1, keepdims=True)
    return np.divide(values, total, out=np.zeros_like(values), where=total > 0)


def _weights(tan: Tan, a: States, b: States, context: States) -> list[Tensor]:
    """The weights [B, heads, query, key] of the first layer's two directions, summed over a context."""
    weights, first = [], cast(Interaction, tan.layers[0])
    for query, key in ((a, b), (b, a)):
        with recording(keep_weights) as record:
            first.attention(query, key, context, Site())
        (tapped,) = record.sites.values()
        weights.append(tapped.tensor.sum(-1))
    return weights


def _means(divergences: list[np.ndarray], keeps: list[Tensor]) -> list[tuple[float, np.ndarray]]:
    """The results of `context_shifts` from D [B, heads, query] of each direction and keep-masks [B, query]."""
    tokens = [values.mean(1) for values in divergences]
    real = [keep.cpu().numpy() for keep in keeps]
    rows = [[values[row][is_real[row]] for values, is_real in zip(tokens, real)] for row in range(len(real[0]))]
    return [(float(np.concatenate(row).mean()), row[0]) for row in rows]


def _row_parts(encoded: Encoded, heads: int) -> Iterator[Encoded]:
    """Yield parts of similar size, with as many rows as a cube may hold, never a single row."""
    a, b, j = (states.keep.shape[1] for states in (encoded.query, encoded.key, encoded.context))
    max_cells = LARGEST if encoded.query.keep.device.type == "cpu" else ON_GPU
    rows, size = max(2, max_cells // max(1, heads * a * b * j)), len(encoded.query.keep)
    parts = -(-size // rows)
    for i in range(parts):
        yield select_rows(encoded, slice(size * i // parts, size * (i + 1) // parts))


def select_rows(encoded: Encoded, rows: slice | Tensor) -> Encoded:
    """Select rows of a batch."""
    query, key, context = (_select_states(states, rows) for states in (encoded.query, encoded.key, encoded.context))
    return Encoded(query, key, context, None if encoded.pooled is None else encoded.pooled[rows])


def _select_states(states: States, rows: slice | Tensor) -> States:
    own_context = None if states.own is None else states.own[rows]
    return replace(states, vectors=states.vectors[rows], keep=states.keep[rows], own=own_context)
