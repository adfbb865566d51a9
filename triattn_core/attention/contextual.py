"""C-Bi-Attention: each token carries its own context vector into ordinary two-way attention."""

from __future__ import annotations

import torch
from torch import Tensor

from triattn_core.attention.bi import BiAttention
from triattn_core.attention.states import States


def with_own_context(states: States, context: States) -> Tensor:
    """`x + c_x` [B, n, h]: c_x is the context vector at the token's own place in the joint sequence.

    A row without a real context token adds nothing.
    """
    if context.vectors.shape[1] == 0:
        return states.vectors
    places = states.positions[..., None].expand(-1, -1, context.vectors.shape[-1])
    own = context.vectors.gather(1, places)
    there = context.keep.gather(1, states.positions)[..., None]
    return states.vectors + torch.where(there, own, 0.0)


class CBiAttention(BiAttention):
    """Bi-Attention over `q + c_q` and `k + c_k`, values from `k + c_k` (Yang et al. 2019; COIN, Eq. 4)."""

    uses_context = True

    def forward(self, query: States, key: States, context: States, site: str) -> Tensor:
        """The attended states [B, N, hidden] of the queries; taps `<site>/relevance` and `<site>/weight`."""
        return self.attend(with_own_context(query, context), with_own_context(key, context), key.keep, site)
