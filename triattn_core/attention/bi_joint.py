"""Bi-joint: two-way attention whose keys are the key sequence followed by the context.

The fair comparison for Tri-Attention if sequences are encoded separately: it reads the same inputs, but in pairs.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from triattn_core.attention.bi import BiAttention
from triattn_core.attention.states import States
from triattn_core.trace.site import Site

NAMES = ("key", "context")


class JointAttention(BiAttention):
    """Bi-Attention over `[k; P c]`: one softmax over I + J keys, values from both, marked by role.

    P is a projection of the context, so that parameters match those of Tri-Attention; each role has its own vector,
    which is added to its states.
    """

    reads = "context"

    def __init__(self, hidden: int, heads: int, similarity: str, value: str | None = None):
        super().__init__(hidden, heads, similarity, value)
        self.context = nn.Linear(hidden, hidden)
        self.role = nn.Parameter(torch.randn(2, hidden) * 0.02)

    def forward(self, query: States, key: States, context: States, site: Site) -> Tensor:
        """The attended states [B, N, hidden]; taps `<site>/relevance` and `<site>/weight` over I + J keys."""
        both = torch.cat([key.vectors + self.role[0], self.context(context.vectors) + self.role[1]], 1)
        keep = torch.cat([key.keep, context.keep], 1)
        return self.attend(query.vectors, both, query.keep, keep, site, {"key": NAMES})
