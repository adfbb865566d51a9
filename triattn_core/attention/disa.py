"""Directional self-attention (DiSA; Shen et al. 2018a, "DiSAN"): multi-dim attention of token to token under a mask.

    f(h_i, h_j) = c tanh((W1 h_i + W2 h_j + b) / c) + M[j, i]            a score for each feature, c = 5
    s_j = sum_i softmax_i(f(h_i, h_j)) * h_i
    F = sigmoid(W_f1 s + W_f2 h + b_f),  u = F * h + (1 - F) * s         the fusion gate

i is the key (the dependent), j the query (the governor).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.utils.checkpoint import checkpoint

from triattn_core.attention import masks
from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.tap import is_tapped, tap
from triattn_core.trace.site import Site

C = 5.0
DIRECTIONS = ("forward", "backward")
AXES = ("query", "key", "feature")
LARGEST = 1 << 25  # most elements of a tensor [B, query, key, feature] in memory at once


class MaskedAttention(nn.Module):
    """s in the equations above: [B, n, D] → [B, n, D], zeros for tokens that may attend to nothing."""

    def __init__(self, size: int, mask: str, keep: float = 1.0):
        super().__init__()
        self.mask, self.share = mask, 1 - keep
        self.key, self.query = nn.Linear(size, size, bias=False), nn.Linear(size, size)

    def forward(self, h: Tensor, keep: Tensor, site: Site | None = None) -> Tensor:
        """Memory is linear in n: long texts run in parts.  Taps `<site>/weight` [query, key, feature],
        or nothing without a site."""
        n = h.shape[1]
        M = masks.mask(self.mask, n, device=h.device)
        keys, queries, allowed = self.key(h), self.query(h), ~M.isneginf() & keep[:, None, :] & keep[..., None]
        size = max(1, LARGEST // max(1, h.numel()))
        share = self.share if self.training else 0.0

        def attend_rows(queries: Tensor, allowed: Tensor) -> Tensor:
            weights = dropout(_weights(keys, queries, allowed), share)
            return (weights * h[:, None]).sum(2)

        if site is not None and is_tapped(site, "weight"):
            tap(site, _weights(keys, queries, allowed), AXES, "weight", ("key",))
        if size >= n:
            return attend_rows(queries, allowed)
        parts = zip(queries.split(size, 1), allowed.split(size, 1))
        return torch.cat([checkpoint(attend_rows, *part, use_reentrant=False) for part in parts], 1)


def _weights(keys: Tensor, queries: Tensor, allowed: Tensor) -> Tensor:
    """[B, query, key, feature]; sums to one over key."""
    scores = C * torch.tanh((keys / C)[:, None] + (queries / C)[:, :, None])
    return kept_softmax(scores, allowed[..., None], 2)


class Gate(nn.Module):
    """u = F * a + (1 - F) * b, with F = sigmoid of a linear layer over both."""

    def __init__(self, size: int):
        super().__init__()
        self.gate = nn.Linear(2 * size, size)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        F = torch.sigmoid(self.gate(torch.cat([a, b], -1)))
        return F * a + (1 - F) * b


class Disa(nn.Module):
    """Both directions, each with its own layers, features concatenated: [B, n, width] → [B, n, out]."""

    def __init__(self, width: int, out: int, activation: nn.Module, keep: float = 1.0):
        super().__init__()
        size = out // 2
        self.hidden = nn.ModuleList(nn.Linear(width, size) for _ in DIRECTIONS)
        self.attention = nn.ModuleList(MaskedAttention(size, name, keep) for name in DIRECTIONS)
        self.gates = nn.ModuleList(Gate(size) for _ in DIRECTIONS)
        self.activation = activation

    def forward(self, x: Tensor, keep: Tensor, site: Site = Site(role="disa")) -> Tensor:
        """Taps `<site>/forward/weight` and `<site>/backward/weight`, [query, key, feature]."""
        directions = []
        for name, linear, attention, gate in zip(DIRECTIONS, self.hidden, self.attention, self.gates):
            h = self.activation(linear(x)).masked_fill(~keep[..., None], 0.0)
            directions.append(gate(h, attention(h, keep, site / name)))
        return torch.cat(directions, -1)
