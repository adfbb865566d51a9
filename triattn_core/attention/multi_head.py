"""Multi-head self-attention with positions (Vaswani et al. 2017), as the baseline of "Tensorized Self-Attention"."""

from __future__ import annotations

from math import log, sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import dropout

from triattn_core.attention.sequence import token_positions
from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.states import join_heads, split_each
from triattn_core.attention.tap import tap
from triattn_core.attention.weight_override import heads_output, scores
from triattn_core.trace.site import Site

AXES = ("head", "query", "key")


def sinusoids(positions: Int[Tensor, "B n"], width: int) -> Float[Tensor, "B n {width}"]:
    """sin(p / 10000^(2i / width)) in the even features 2i, cos of the same in the odd ones (section 3.5)."""
    even = torch.arange(0, width, 2, device=positions.device)
    angles = positions[..., None] * torch.exp(-log(10_000) / width * even)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[..., :width]


class MultiHead(nn.Module):
    """softmax(q k' / sqrt(D)) v in each head, heads joined, then W_o (Eqs. 4 and 5 of "Tensorized Self-Attention").

    positions: whether sinusoids are added to its input.
    """

    def __init__(self, width: int, heads: int, size: int, keep: float = 1.0, positions: bool = True):
        super().__init__()
        self.heads, self.share, self.positions = heads, 1 - keep, positions
        self.query, self.key, self.value = (nn.Linear(width, heads * size) for _ in range(3))
        self.out = nn.Linear(heads * size, heads * size)

    def forward(self, x: Tensor, keep: Tensor, site: Site = Site(role="multi_head")) -> Tensor:
        """[B, n, heads * size] of x [B, n, width].  Taps `<site>/relevance`, `<site>/weight` [head, query, key]."""
        if self.positions:
            x = x + sinusoids(token_positions(keep), x.shape[-1]).to(x.dtype)
        q, k, v = split_each([self.query(x), self.key(x), self.value(x)], self.heads)
        relevance = scores(q @ k.mT / sqrt(q.shape[-1]))
        weights = masked_softmax(relevance, keep[:, None, :])
        tap(site, relevance, AXES, "relevance")
        tap(site, weights, AXES, "weight", ("key",))
        return self.out(join_heads(heads_output(dropout(weights, self.share, self.training) @ v, site)))
