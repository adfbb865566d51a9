"""The Tri-Attention network (Tri-Attention, section V and Fig. 3) after its encoder: interaction, aggregation,
prediction.  The filtering module is for long inputs; sentence matching skips it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, field_validator
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention import MECHANISMS
from triattn_core.attention.mix import VALUES
from triattn_core.attention.similarity import SIMILARITIES
from triattn_core.attention.states import States
from triattn_core.errors import ConfigError, choices
from triattn_core.models.encoder import Encoded


class TanConfig(BaseModel):
    """What makes one TAN differ from another; see the tables of `attention` for the names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Literal[tuple(MECHANISMS)]
    similarity: str = "additive"
    value: str | None = None
    layers: int = Field(2, ge=1, le=12)
    heads: int = Field(12, ge=1)
    residual: bool = True  # False: the paper's plain stack, without residual connection and layer norm
    dropout: float = Field(0.1, ge=0, lt=1)
    pooled_dropout: float = Field(0.0, ge=0, lt=1)  # of whole pooled vectors: without it, attention has little to learn

    @property
    def about(self) -> dict[str, str | int]:
        """What a trace says of the model that left it."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "layers", "heads")}

    @field_validator("similarity")
    @classmethod
    def _similarity(cls, name: str) -> str:
        return known(name, SIMILARITIES)

    @field_validator("value")
    @classmethod
    def _value(cls, name: str | None) -> str | None:
        return None if name is None else known(name, VALUES)


def known(name: str, table: Mapping[str, type]) -> str:
    """A name of a table. Raises ValueError naming the nearest."""
    if name not in table:
        raise ValueError(f"unknown {name!r}; {choices(name, table)}")
    return name


class Interaction(nn.Module):
    """One layer: both directions with the same weights under the same context; the context moves on after it."""

    def __init__(self, config: TanConfig, hidden: int, last: bool):
        super().__init__()
        kind = MECHANISMS[config.mechanism]
        self.attention = kind(hidden, config.heads, config.similarity, config.value)
        self.norm = nn.LayerNorm(hidden) if config.residual else None
        self.reads = kind.reads
        self.context = nn.Linear(hidden, hidden) if kind.reads and not last else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, a: States, b: States, context: States, site: str) -> tuple[States, States, States]:
        """New states of a, b and the context."""
        new_a = self._joined(a, self.attention(a, b, context, f"{site}/a_over_b"))
        new_b = self._joined(b, self.attention(b, a, context, f"{site}/b_over_a"))
        if self.context is None:
            return new_a, new_b, context
        if self.reads == "own":
            return self._moved(new_a), self._moved(new_b), context
        return new_a, new_b, States(self._on(context.vectors), context.keep)

    def _moved(self, states: States) -> States:
        return replace(states, own=None if states.own is None else self._on(states.own))

    def _on(self, context: Tensor) -> Tensor:
        return self.dropout(gelu(self.context(context)))

    def _joined(self, states: States, attended: Tensor) -> States:
        if self.norm is not None:
            attended = self.norm(states.vectors + self.dropout(attended))
        return replace(states, vectors=attended)


class Tan(nn.Module):
    """Interaction, aggregation and prediction over encoded sequences."""

    def __init__(self, config: TanConfig, hidden: int, outputs: int = 2):
        super().__init__()
        if hidden % config.heads:
            raise ConfigError(f"{config.heads} heads do not share {hidden} features evenly: change heads")
        self.layers = nn.ModuleList(
            Interaction(config, hidden, last=i == config.layers - 1) for i in range(config.layers)
        )
        self.dropout = nn.Dropout(config.dropout)
        self.pooled_dropout = config.pooled_dropout
        self.predict = nn.Linear(4 * hidden, outputs)

    def forward(self, encoded: Encoded) -> Tensor:
        """Logits [B, outputs] from `[a, b, |a - b|, pooled]`."""
        a, b, context = encoded.query, encoded.key, encoded.context
        for i, layer in enumerate(self.layers):
            a, b, context = layer(a, b, context, f"layer.{i}")
        left, right = mean(a), mean(b)
        joined = torch.cat([left, right, (left - right).abs(), self._pooled(encoded.pooled)], dim=-1)
        return self.predict(self.dropout(joined))

    def _pooled(self, pooled: Tensor) -> Tensor:
        """In training, zeros for a share of the examples: these must be told apart by what attention gives."""
        if not (self.training and self.pooled_dropout):
            return pooled
        return pooled * (torch.rand(len(pooled), 1, device=pooled.device) >= self.pooled_dropout)


def mean(states: States) -> Tensor:
    """Mean [B, h] over the real tokens; zeros where there is none."""
    keep = states.keep[..., None]
    return (states.vectors * keep).sum(1) / keep.sum(1).clamp(min=1)
