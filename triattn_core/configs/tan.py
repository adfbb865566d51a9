"""Settings of a TAN, and its config.json.

The defaults of `TanConfig` are the published network, those of `LIVING` that of the form whose answer depends on the
attention; see `models.tan`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_serializer, model_validator

from triattn_core.configs.names import FIXED, POOLING, SIMILARITIES, VALUES
from triattn_core.configs.parts import CheckpointConfig, Data, Training
from triattn_core.literal import known, one_of
from triattn_core.tasks import InputForm, form, tasks_of
from triattn_core.text.roles import Limits
from triattn_core.trace.axes import TAN_MECHANISMS

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

    mechanism: Annotated[str, one_of(TAN_MECHANISMS)]
    similarity: Annotated[str, known(SIMILARITIES)] = "additive"
    value: Annotated[str, known(VALUES)] | None = None
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
