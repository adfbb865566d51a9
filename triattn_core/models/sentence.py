"""Sentence models (Shen et al. 2019, section 4): word vectors, context fusion, pooling, classifier.

One text is classified by its vector s; a premise and a hypothesis by [p, h, p - h, p * h] (section 4.1; Bowman et al.
2016), both encoded with the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from triattn_core.attention.pooling import Source2TokenPooling
from triattn_core.attention.states import States
from triattn_core.configs.sentence import SentenceConfig
from triattn_core.models.encoder_layers import EncoderLayers
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.fusion.activations import ACTIVATIONS
from triattn_core.trace.site import Site


class SentenceModel(nn.Module):
    """Logits of a batch; `texts`: the names of the task's texts, one or two."""

    def __init__(self, config: SentenceConfig, words: int, outputs: int, texts: Sequence[str] = ("text",)):
        super().__init__()
        self.texts = tuple(texts)
        act = ACTIVATIONS[config.activation]
        self.dropout, self.activation = nn.Dropout(1 - config.keep), act()
        self.encoder_layers = EncoderLayers(words, config.fine_tuned) if config.fine_tuned else None
        self.first = nn.Linear(words, config.width)
        widths = [config.width, *[config.out] * (config.layers - 1)]
        self.layers = nn.ModuleList(FUSIONS[config.mechanism](width, config) for width in widths)
        self.pool = Source2TokenPooling(config.out, act())
        size = config.out * (4 if len(self.texts) > 1 else 1)
        self.hidden, self.predict = nn.Linear(size, config.hidden), nn.Linear(config.hidden, outputs)
        for module in self.modules():
            if isinstance(module, nn.Linear):  # appendix B
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, texts: Sequence[States]) -> Tensor:
        """[B, outputs].  With two texts, each taps its sites under its name: `premise/layer.0/…`, `premise/pool/…`."""
        several = len(self.texts) > 1
        vectors = [self.sentence(states, name if several else "") for name, states in zip(self.texts, texts)]
        features = vectors[0]
        if several:
            p, h = vectors
            features = torch.cat([p, h, p - h, p * h], -1)
        return self.predict(self.dropout(self.activation(self.hidden(self.dropout(features)))))

    def sentence(self, states: States, name: str = "") -> Tensor:
        """The vector [B, out] of each text; name: that of the text, in the sites of its taps."""
        keep = states.keep
        if self.encoder_layers is not None:
            states = self.encoder_layers(states)
        x = self.activation(self.first(self.dropout(states.vectors)))
        for i, layer in enumerate(self.layers):
            fused = layer(self.dropout(x), keep, Site(name, i)).masked_fill(~keep[..., None], 0.0)
            x = x + fused if i else fused  # stacked blocks have residual connections
        return self.pool(self.dropout(x), keep, Site(role="pool").under(name))
