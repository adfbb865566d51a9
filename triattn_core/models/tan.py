"""The Tri-Attention network (Tri-Attention, section V and Fig. 3) after its encoder: interaction, aggregation,
prediction.  The filtering module is for long inputs; sentence matching skips it.

The defaults of `TanConfig` are the published network.  In its living form (ours) the answer depends on the attention:
sequences are encoded separately, a token comparison replaces the residual stream, and there is no pooled vector.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention import MECHANISMS
from triattn_core.attention.cbi import OwnContext
from triattn_core.attention.fixed_weights import FIXED
from triattn_core.attention.states import States
from triattn_core.configs.tan import TanConfig
from triattn_core.errors import ConfigError
from triattn_core.models.comparison import POOLING, TokenComparison
from triattn_core.models.encoder import Encoded
from triattn_core.trace.site import Site


class Interaction(nn.Module):
    """One layer: attention in both directions with the same weights and context; then the context is updated."""

    def __init__(self, config: TanConfig, hidden: int, last: bool):
        super().__init__()
        kind = MECHANISMS[config.mechanism]
        self.attention = kind(hidden, config.heads, config.similarity, config.value)
        self.attention.fixed = FIXED.get(config.weights)
        compares = config.token_comparison == "mlp"
        self.comparison = TokenComparison(hidden, self.attention.vectors, config.dropout) if compares else None
        self.norm = nn.LayerNorm(hidden) if config.residual and not compares else None
        self.reads = kind.reads
        self.context = nn.Linear(hidden, hidden) if kind.reads and not last else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, a: States, b: States, context: States, site: Site) -> tuple[States, States, States]:
        """New states of a, b and the context."""
        new_a = self._join(a, self.attention(a, b, context, site / "a_over_b"))
        new_b = self._join(b, self.attention(b, a, context, site / "b_over_a"))
        if self.context is None:
            return new_a, new_b, context
        if self.reads == "own":
            return self._update_own(new_a), self._update_own(new_b), context
        return new_a, new_b, States(self._update_context(context.vectors), context.keep)

    def _update_own(self, states: States) -> States:
        return replace(states, own=None if states.own is None else self._update_context(states.own))

    def _update_context(self, context: Tensor) -> Tensor:
        assert self.context is not None
        return self.dropout(gelu(self.context(context)))

    def _join(self, states: States, attended: Tensor) -> States:
        if self.comparison is not None:
            attended = self.comparison(states.vectors, attended)
        elif self.norm is not None:
            attended = self.norm(states.vectors + self.dropout(attended))
        return replace(states, vectors=attended)


class Tan(nn.Module):
    """Interaction, aggregation and prediction over encoded sequences."""

    def __init__(self, config: TanConfig, hidden: int, outputs: int = 2):
        super().__init__()
        width = config.width or hidden
        if width % config.heads:
            raise ConfigError(f"{width} features are not divisible by {config.heads} heads: change heads")
        reads = MECHANISMS[config.mechanism].reads
        self.narrow = nn.Linear(hidden, width) if config.width else None
        self.narrow_context = nn.Linear(hidden, width) if config.width and reads else None
        self.own = OwnContext(width) if config.context == "apart" and reads == "own" else None
        self.layers = nn.ModuleList(
            Interaction(config, width, last=i == config.layers - 1) for i in range(config.layers)
        )
        self.dropout = nn.Dropout(config.dropout)
        self.pooled_dropout, self.pooled = config.pooled_dropout, config.pooled
        self.pooling = POOLING[config.pooling]
        self.difference = config.token_comparison == "none"
        inputs = (3 if self.difference else 2) * len(self.pooling) * width + hidden * config.pooled
        self.predict = nn.Linear(inputs, outputs) if self.difference else self._classifier(inputs, width, outputs)

    def _classifier(self, inputs: int, width: int, outputs: int) -> nn.Module:
        return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), self.dropout, nn.Linear(width, outputs))

    def forward(self, encoded: Encoded) -> Tensor:
        """Logits [B, outputs] from `[a, b, |a - b|, pooled]` as published, from `[a, b]` after a token comparison."""
        a, b, context = self.project(encoded)
        for i, layer in enumerate(self.layers):
            a, b, context = layer(a, b, context, Site(layer=i))
        left, right = (torch.cat([pool(states) for pool in self.pooling], -1) for states in (a, b))
        features = [left, right]
        features += [(left - right).abs()] if self.difference else []
        if self.pooled:
            assert encoded.pooled is not None  # a config that asks for it encodes jointly
            features.append(self._drop_pooled(encoded.pooled))
        return self.predict(self.dropout(torch.cat(features, dim=-1)))

    def project(self, encoded: Encoded) -> tuple[States, States, States]:
        """The states of query, key and context that enter the first layer."""
        a, b, context = encoded.query, encoded.key, encoded.context
        if self.narrow is not None:
            a, b = (replace(states, vectors=self.narrow(states.vectors)) for states in (a, b))
            if self.narrow_context is not None:
                context = replace(context, vectors=self.narrow_context(context.vectors))
                a, b = (
                    replace(states, own=None if states.own is None else self.narrow_context(states.own))
                    for states in (a, b)
                )
        if self.own is not None:
            a, b = (replace(states, own=self.own(states.vectors, context)) for states in (a, b))
        return a, b, context

    def _drop_pooled(self, pooled: Tensor) -> Tensor:
        """In training, zeros for a share of the examples, which must then be classified from the attention."""
        if not (self.training and self.pooled_dropout):
            return pooled
        return pooled * (torch.rand(len(pooled), 1, device=pooled.device) >= self.pooled_dropout)
