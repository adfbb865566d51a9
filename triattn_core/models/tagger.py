"""Deep taggers (Tan et al. 2018, "Deep semantic role labeling with self-attention"), with any block of `fusion`.

Each layer is a feed-forward sublayer and then a block that mixes context into each token, both with a residual
connection and layer normalisation: x = norm(x + sublayer(x)).  The input is a projection of a word's vector, plus a
learnt vector that marks the predicate; the output a score of each tag for each word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, relu

from triattn_core.attention.multi_head import sinusoids
from triattn_core.attention.sequence import token_positions
from triattn_core.configs.tagger import TaggerConfig
from triattn_core.inference.batch import TextBatch
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.word_vectors import WordVectors
from triattn_core.trace.site import Site


@dataclass(frozen=True)
class MarkedStates:
    """The input of a tagger.

    vectors: [B, n, h], of words.  keep: [B, n] bool, True = a real word.  marked: [B, n] bool, the predicate.
    """

    vectors: Tensor
    keep: Tensor
    marked: Tensor


@dataclass(frozen=True)
class MarkedWords:
    """The frozen word vectors of a tagger's sentences, and the word that each marks by segment id 1."""

    words: WordVectors

    @property
    def hidden(self) -> int:
        """Width of a vector."""
        return self.words.hidden

    @property
    def digest(self) -> str:
        """Digest of the encoder's tensors."""
        return self.words.digest

    def __call__(self, batch: TextBatch) -> MarkedStates:
        (states,), (role,) = self.words(batch), batch.texts
        marked = role.types.float() if role.average is None else (role.average @ role.types[..., None].float())[..., 0]
        return MarkedStates(states.vectors, states.keep, marked > 0)


class TaggerLayer(nn.Module):
    """One layer: [B, n, out] → [B, n, out]."""

    def __init__(self, config: TaggerConfig):
        super().__init__()
        self.first, self.second = (
            nn.Linear(config.out, config.feed_forward),
            nn.Linear(config.feed_forward, config.out),
        )
        self.fusion = FUSIONS[config.mechanism](config.out, config)
        self.norms = nn.ModuleList(nn.LayerNorm(config.out) for _ in range(2))
        self.share, self.hidden_share = 1 - config.keep, 1 - config.hidden_keep

    def forward(self, x: Tensor, keep: Tensor, site: Site) -> Tensor:
        hidden = dropout(relu(self.first(x)), self.hidden_share, self.training)
        x = self.norms[0](x + dropout(self.second(hidden), self.share, self.training))
        fused = self.fusion(x, keep, site).masked_fill(~keep[..., None], 0.0)
        return self.norms[1](x + dropout(fused, self.share, self.training))


class Tagger(nn.Module):
    """Scores of tags [B, n, outputs], of word vectors of width `hidden`."""

    def __init__(self, config: TaggerConfig, hidden: int, outputs: int):
        super().__init__()
        self.input, self.mark = nn.Linear(hidden, config.out), nn.Parameter(torch.zeros(config.out))
        self.layers = nn.ModuleList(TaggerLayer(config) for _ in range(config.layers))
        self.predict = nn.Linear(config.out, outputs)
        self.positions, self.share = config.positions, 1 - config.keep
        nn.init.normal_(self.mark)

    def forward(self, states: MarkedStates) -> Tensor:
        """Layers tap their sites under `layer.0/…`, `layer.1/…`."""
        x = self.input(states.vectors) + states.marked[..., None] * self.mark
        if self.positions:
            x = x + sinusoids(token_positions(states.keep), x.shape[-1]).to(x.dtype)
        x = dropout(x, self.share, self.training)
        for i, layer in enumerate(cast(Any, self.layers)):
            x = layer(x, states.keep, Site(layer=i))
        return self.predict(x)
