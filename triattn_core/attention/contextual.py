"""C-Bi-Attention: each token carries its own context vector into ordinary two-way attention."""

from __future__ import annotations

from torch import Tensor

from triattn_core.attention.bi import BiAttention
from triattn_core.attention.states import States


def with_own_context(states: States) -> Tensor:
    """`x + c_x` [B, n, h]: c_x is the context vector at the token's own place in the joint sequence."""
    return states.vectors if states.own is None else states.vectors + states.own


class CBiAttention(BiAttention):
    """Bi-Attention over `q + c_q` and `k + c_k`, values from `k + c_k` (Yang et al. 2019; COIN, Eq. 4)."""

    reads = "own"

    def forward(self, query: States, key: States, context: States, site: str) -> Tensor:
        """The attended states [B, N, hidden] of the queries; taps `<site>/relevance` and `<site>/weight`."""
        return self.attend(with_own_context(query), with_own_context(key), key.keep, site)
