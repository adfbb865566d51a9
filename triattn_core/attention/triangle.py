"""Triangle self-attention over pairs (Jumper et al. 2021, supplement, Algorithms 13 and 14).

The pair (i, j) attends to the pairs (i, k) around its starting node, or (k, j) around its ending node; the third pair
of the triangle adds a bias.  Weights are a cube over i, j and k, but a softmax over k alone: each pair has its own.
"""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.tap import tap
from triattn_core.trace.site import Site

AXES = ("head", "query", "key", "context")
TRIANGLE = Site(role="triangle")


def triangle_scores(
    query: Float[Tensor, "*b n n D"], key: Float[Tensor, "*b n n D"], bias: Float[Tensor, "*b n n"]
) -> Float[Tensor, "*b n n n"]:
    """`q_ij · k_ik / sqrt(D) + b_jk` for every pair (i, j) and every k (Algorithm 13, line 5)."""
    return query @ key.mT / query.shape[-1] ** 0.5 + bias[..., None, :, :]


class TriangleAttention(nn.Module):
    """Gated multi-head triangle attention; `starting` or ending node."""

    def __init__(self, features: int, heads: int, size: int, starting: bool = True):
        super().__init__()
        self.heads, self.starting = heads, starting
        self.norm = nn.LayerNorm(features)
        self.query, self.key, self.value = (nn.Linear(features, heads * size, bias=False) for _ in range(3))
        self.bias = nn.Linear(features, heads, bias=False)
        self.gate, self.out = nn.Linear(features, heads * size), nn.Linear(heads * size, features)

    def forward(
        self, pairs: Float[Tensor, "B n n F"], keep: Bool[Tensor, "B n n"], site: Site = TRIANGLE
    ) -> Float[Tensor, "B n n F"]:
        """What is added to the pair states.  keep: pairs that may be attended to.

        Taps `<site>/relevance` and `<site>/weight` [head, i, j, k] as axes query, key and context; weights sum to one
        over context.
        """
        return self.attend(pairs, keep, site)[0]

    def attend(
        self, pairs: Float[Tensor, "B n n F"], keep: Bool[Tensor, "B n n"], site: Site = TRIANGLE
    ) -> tuple[Float[Tensor, "B n n F"], Float[Tensor, "B h n n n"]]:
        """`forward`, and the weights [B, head, i, j, k]."""
        if not self.starting:  # around the ending node, (i, j) and (k, j) change places with (j, i) and (j, k)
            pairs, keep = pairs.transpose(1, 2), keep.transpose(1, 2)
        states = self.norm(pairs)
        query, key, value, gate = (
            project(states).unflatten(-1, (self.heads, -1)).movedim(-2, 1)  # [B, heads, n, n, size]
            for project in (self.query, self.key, self.value, self.gate)
        )
        scores = triangle_scores(query, key, self.bias(states).movedim(-1, 1))
        weights = masked_softmax(scores, keep[:, None])
        tap(site, self._as_given(scores), AXES, "relevance")
        as_given = self._as_given(weights)
        tap(site, as_given, AXES, "weight", ("context",))
        attended = weights @ value * gate.sigmoid()
        return self._as_given(self.out(attended.movedim(1, -2).flatten(-2)), 1), as_given

    def _as_given(self, tensor: Tensor, first: int = 2) -> Tensor:
        """The tensor with its first node before its last again, at axes `first` and `first + 1`."""
        return tensor if self.starting else tensor.transpose(first, first + 1)
