"""Multi-mask tensorized self-attention (Shen et al. 2019, "Tensorized Self-Attention", section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, relu

from triattn_core.attention import masks as positions
from triattn_core.attention import tensorized
from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.states import heads_first
from triattn_core.attention.tap import is_tapped, tap
from triattn_core.attention.weight_override import heads_output, scores
from triattn_core.configs.mask_names import of_heads
from triattn_core.trace.site import Site

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": relu, "elu": elu}
PAIRS, FEATURES = ("head", "query", "key"), ("head", "key", "feature")


class PerHead(nn.Module):
    """A linear layer for each head: [H, B, n, D] → [H, B, n, outputs]."""

    def __init__(self, heads: int, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(heads, 1, outputs))
        for head in self.weight:
            nn.init.xavier_uniform_(head)

    def forward(self, states: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, states.flatten(1, 2), self.weight).unflatten(1, states.shape[1:3])


class Source2Token(nn.Module):
    """f^s(k) = W2 act(W1 k + b1) + b2, a score for each feature (Eq. 9): [H, B, n, D] → [H, B, n, D]."""

    def __init__(self, heads: int, size: int, activation: str = "relu"):
        super().__init__()
        self.first, self.second = PerHead(heads, size, size), PerHead(heads, size, size)
        self.activation = ACTIVATIONS[activation]

    def forward(self, k: Tensor) -> Tensor:
        return self.second(self.activation(self.first(k)))


class Mtsa(nn.Module):
    """MTSA: each head is a tensorized self-attention with its own positional mask.

    masks: names of `masks.MASKS`, see `mask_names.of_heads`.  token2token, source2token: False ablates the score (Table
    3).
    keep: probability p that attention dropout keeps a product: sqrt(p) on each factor (Appendix A.3).
    Raises ConfigError for an unknown mask.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        size: int,
        masks: Sequence[str] = (),
        scale_t: str = "log_sigmoid",
        scale_s: str = "identity",
        include_self: bool = False,
        activation: str = "relu",
        token2token: bool = True,
        source2token: bool = True,
        keep: float = 1.0,
    ):
        super().__init__()
        self.masks = of_heads(masks, heads)
        self.heads, self.include_self, self.share = heads, include_self, 1 - sqrt(keep)
        self.scale_t, self.scale_s = scale_t, scale_s
        scores = token2token, token2token or source2token  # ablated scores have no parameters
        self.query, self.key = (nn.Linear(width, heads * size) if needed else None for needed in scores)
        self.value = nn.Linear(width, heads * size)
        self.source2token = Source2Token(heads, size, activation) if source2token else None
        self.out = nn.Linear(heads * size, heads * size)

    def forward(self, x: Tensor, keep: Tensor, site: Site = Site(role="mtsa")) -> Tensor:
        """Contextual embeddings [B, n, heads * size] of x [B, n, width]; `keep` [B, n] True = a real token.

        Taps the scores and their two-way weights: `<site>/token2token/…` [head, query, key] (the query is the governor,
        the key the dependent), `<site>/source2token/…` [head, key, feature], and the mask M as
        `<site>/mask/contribution` [head, query, key].
        """
        v = self.value(x).unflatten(-1, (self.heads, -1)).movedim(-2, 0)  # read once, so not copied
        q, k = (
            heads_first(project(x), self.heads) if project else torch.zeros_like(v)
            for project in (self.query, self.key)
        )
        S = scores(self.source2token(k)) if self.source2token else torch.zeros_like(v)
        q = scores(q)  # a query of zeros is as relevant to every key
        share = self.share if self.training else 0.0
        mask_of = {
            name: positions.mask(name, x.shape[1], self.include_self, x.device) for name in dict.fromkeys(self.masks)
        }
        M = torch.stack([mask_of[name] for name in self.masks])
        attended = tensorized.attend(q, k, v, S, M.to(x.dtype), keep, self.scale_t, self.scale_s, share)
        self._show(q.transpose(0, 1), k.transpose(0, 1), S.transpose(0, 1), M, keep, site)
        return self.out(heads_output(attended, site, 0).movedim(0, -2).flatten(-2))

    def _show(self, q: Tensor, k: Tensor, S: Tensor, M: Tensor, keep: Tensor, site: Site) -> None:
        pairs, source, mask = site / "token2token", site / "source2token", site / "mask"
        if not any(is_tapped(part, "relevance", "weight", "contribution") for part in (pairs, source, mask)):
            return
        R = q @ k.mT / sqrt(q.shape[-1])
        scores = tensorized.SCALES[self.scale_t](R) + M.masked_fill(M.isneginf(), 0.0)
        weights = kept_softmax(scores, ~M.isneginf() & keep[:, None, None, :])
        tap(mask, M.expand(len(q), *M.shape), PAIRS, "contribution")
        tap(pairs, R, PAIRS, "relevance")
        tap(pairs, weights, PAIRS, "weight", ("key",))
        tap(source, S, FEATURES, "relevance")
        features = tensorized.SCALES[self.scale_s](S).mT
        tap(source, kept_softmax(features, keep[:, None, None, :]).mT, FEATURES, "weight", ("key",))
