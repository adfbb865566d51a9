"""The Tri-Attention network (Tri-Attention, section V and Fig. 3) after its encoder: interaction, aggregation,
prediction.  The filtering module is for long inputs; sentence matching skips it.

The defaults of `TanConfig` are the published network.  In its living form (ours) the answer depends on the attention:
sequences are encoded separately, a token comparison replaces the residual stream, and there is no pooled vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_serializer, model_validator
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention import MECHANISMS
from triattn_core.attention.cbi import OwnContext
from triattn_core.attention.contextual_value import VALUES
from triattn_core.attention.fixed_weights import FIXED
from triattn_core.attention.states import States
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.checkpoint.config_parts import CheckpointConfig, Data, Training
from triattn_core.errors import ConfigError, choices
from triattn_core.literal import one_of
from triattn_core.models.comparison import POOLING, TokenComparison
from triattn_core.models.encoder import Encoded
from triattn_core.tasks import InputForm, form, tasks_of
from triattn_core.text.roles import Limits
from triattn_core.trace.site import Site

# Fields of the living form: omitted from a written config if they have the published values, so that digests hold.
LIVING = (
    "width", "token_comparison", "pooling", "pooled", "context", "states", "attend_special", "weights",
)  # fmt: skip


class TanConfig(BaseModel):
    """Settings of a TAN; see the tables of `attention` for the names.

    width: features of the interaction; by default the encoder's.
    token_comparison: `mlp` in place of residual connection and layer norm; see `comparison`.
    pooling: of a sequence after its last layer.  pooled: whether the classifier reads the joint sequence's vector.
    context: `apart` encodes each sequence, and the context, separately.
    states: with `apart`, the encoder layer of query and key, and that of the context.
    attend_special: whether `[CLS]` and `[SEP]` are context.
    weights: `learned`, or a control of `fixed_weights.FIXED` whose fixed weights replace them in training and use.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Annotated[str, one_of(MECHANISMS)]
    similarity: str = "additive"
    value: str | None = None
    layers: int = Field(2, ge=1, le=12, strict=True)  # true is no number
    heads: int = Field(12, ge=1, strict=True)
    residual: bool = True  # False: the paper's plain stack, without residual connection and layer norm
    dropout: float = Field(0.1, ge=0, lt=1)
    pooled_dropout: float = Field(0.0, ge=0, lt=1)  # of whole pooled vectors; without it, attention has little to learn
    width: int | None = Field(None, ge=1, le=4096)
    token_comparison: Literal["none", "mlp"] = "none"
    pooling: Annotated[str, one_of(POOLING)] = "mean"
    pooled: bool = True
    context: Literal["joint", "apart"] = "joint"
    states: tuple[int, int] | None = None
    attend_special: bool = True
    weights: Annotated[str, one_of(("learned", *FIXED))] = "learned"

    @property
    def about(self) -> dict[str, str | int]:
        """Facts about the model that its traces record."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "layers", "heads")}

    @field_validator("similarity")
    @classmethod
    def _similarity(cls, name: str) -> str:
        return require_name(name, SIMILARITIES)

    @field_validator("value")
    @classmethod
    def _value(cls, name: str | None) -> str | None:
        return None if name is None else require_name(name, VALUES)

    @model_validator(mode="after")
    def _fits_together(self) -> TanConfig:
        if (self.context == "apart") != (self.states is not None):
            raise ValueError("states: name the encoder's two layers with context apart, and only there")
        if self.states and min(self.states) < 1:
            raise ValueError("states: layers of the encoder count from 1")
        if self.context == "apart" and self.pooled:
            raise ValueError("pooled: sequences encoded apart have no joint vector: set it to false")
        if self.context == "joint" and not self.attend_special:
            raise ValueError("attend_special: false is for context apart")
        if self.context == "joint" and self.mechanism == "bi_joint":
            raise ValueError("mechanism bi_joint is for context apart: a joint context holds the keys already")
        if self.value == "value_and_product" and self.token_comparison == "none":
            raise ValueError("value value_and_product needs token_comparison mlp")
        return self

    @model_serializer(mode="wrap")
    def _without_published_defaults(self, write) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            name: setting
            for name, setting in write(self).items()
            if name not in LIVING or getattr(self, name) != fields[name].default
        }


class TanCheckpoint(CheckpointConfig):
    """A TAN checkpoint: `encoder` is a name under checkpoints/encoders, a local folder or a hub name."""

    format: Literal[1]
    kind: Literal["tan"]
    task: Annotated[str, one_of(tasks_of("tan"))]
    language: str
    encoder: str
    max_tokens: int = Field(64, ge=1, le=512)
    cells: tuple[int, int, int] | None = None  # of query, key and context, where the texts of a task are long
    model: TanConfig
    data: Data
    training: Training
    encoder_digest: str | None = None
    digest: str | None = None

    @property
    def limits(self) -> Limits:
        """How much of a text the model reads."""
        return Limits(self.max_tokens, self.cells, self.model.context == "apart")

    @model_validator(mode="after")
    def _fits_its_task(self) -> TanCheckpoint:
        if form(self.task) is InputForm.PAIR and self.max_tokens > 250:
            raise ValueError("max_tokens of a sentence must be at most 250")
        if self.cells and (form(self.task) is InputForm.PAIR or min(self.cells[:2]) < 1 or self.cells[2] < 8):
            raise ValueError("cells are for long texts: at least 1 of query and key and 8 of context")
        return self


def require_name(name: str, table: Mapping[str, type]) -> str:
    """Returns the name if it is in the table.  Raises ValueError that suggests the closest."""
    if name not in table:
        raise ValueError(f"unknown {name!r}; {choices(name, table)}")
    return name


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
