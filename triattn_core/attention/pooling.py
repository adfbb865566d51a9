"""Multi-dim source2token pooling of a sequence to one vector; each feature has its own weights over the tokens."""

from __future__ import annotations

from torch import Tensor, nn

from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.tap import tap
from triattn_core.trace.site import Site

AXES = ("key", "feature")


class Source2TokenPooling(nn.Module):
    """S = W2 act(W1 x + b1) + b2, P = softmax of S over tokens, s[l] = sum_i P[i, l] x[i, l] (Shen et al. 2018a, 3.3).

    The score is that of Eq. 9 of "Tensorized Self-Attention", applied to the sequence itself.
    """

    def __init__(self, size: int, activation: nn.Module):
        super().__init__()
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size)
        self.activation = activation

    def forward(self, x: Tensor, keep: Tensor, site: Site | None = Site(role="pool")) -> Tensor:
        """[B, size] of x [B, n, size]; zeros if no token is real.

        Taps `<site>/relevance` and `<site>/weight`, or nothing if `site` is None.
        """
        S = self.second(self.activation(self.first(x)))
        P = kept_softmax(S.mT, keep[:, None, :]).mT
        if site is not None:
            tap(site, S, AXES, "relevance")
            tap(site, P, AXES, "weight", ("key",))
        return (P * x.masked_fill(~keep[..., None], 0.0)).sum(1)
