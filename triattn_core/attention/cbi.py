"""C-Bi-Attention: each token carries its own context vector, followed by ordinary two-way attention."""

from __future__ import annotations

from torch import Tensor, nn

from triattn_core.attention.bi import BiAttention
from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.states import States
from triattn_core.trace.site import Site


def with_own_context(states: States) -> Tensor:
    """`x + c_x` [B, n, h]: c_x is the context vector at the token's position in the joint sequence."""
    return states.vectors if states.own is None else states.vectors + states.own


class CBiAttention(BiAttention):
    """Bi-Attention over `q + c_q` and `k + c_k`, values from `k + c_k` (Yang et al. 2019; COIN, Eq. 4)."""

    reads = "own"

    def forward(self, query: States, key: States, context: States, site: Site) -> Tensor:
        """The attended states [B, N, hidden] of the queries; taps `<site>/relevance` and `<site>/weight`."""
        return self.attend(with_own_context(query), with_own_context(key), query.keep, key.keep, site)


class OwnContext(nn.Module):
    """A token's own context vector if sequences are encoded separately, so that it has no position in the context.

    `c_x = sum_j softmax_j(A x . B c_j / sqrt D) c_j` (ours, not published); zeros without context.
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.A, self.B = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)

    def forward(self, vectors: Tensor, context: States) -> Tensor:
        """[B, n, D] and a context of [B, J, D] → [B, n, D]."""
        relevance = self.A(vectors) @ self.B(context.vectors).mT / vectors.shape[-1] ** 0.5
        return masked_softmax(relevance, context.keep) @ context.vectors
