"""Settings of COIN, and its config.json."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triattn_core.configs.names import COIN_FUSIONS, COIN_POOLINGS
from triattn_core.configs.parts import CheckpointConfig, CoinTraining, Data, Vocabulary
from triattn_core.literal import one_of
from triattn_core.tasks import tasks_of


class CoinConfig(BaseModel):
    """What makes one COIN differ from another; the paper leaves the number of heads open.

    embedding: features of a token.  initial_std: their standard deviation before training.  hidden: of
    every feed-forward network and convolution.  layers: interaction blocks.  gate_bias: of gates before training; a
    larger one keeps more of the old vectors.  block_rate: learning rate of a block over that of the one before.
    block_loss: weight of the loss of what the model would answer after each block but the last.
    The ablations of Table 3: context False ("w/o context"), fusion simple, aggregation False, pooling max.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Literal["coin"] = "coin"
    embedding: int = Field(200, ge=1)
    initial_std: float = Field(0.1, gt=0)
    hidden: int = Field(200, ge=1)
    layers: int = Field(2, ge=1, le=12, strict=True)
    gate_bias: float = 0.0
    block_rate: float = Field(1.0, gt=0)
    block_loss: float = Field(0.0, ge=0)
    heads: int = Field(5, ge=1, strict=True)
    dropout: float = Field(0.2, ge=0, lt=1)
    context: bool = True
    fusion: Annotated[str, one_of(COIN_FUSIONS)] = "gate"
    aggregation: bool = True
    pooling: Annotated[str, one_of(COIN_POOLINGS)] = "heads"

    @property
    def about(self) -> dict[str, str | int]:
        """Facts about the model that its traces record."""
        return {name: getattr(self, name) for name in ("mechanism", "layers", "heads")}


class CoinCheckpoint(CheckpointConfig):
    """A COIN: it learns vectors for the words of `vocabulary`, or reads the frozen embedding table of an encoder.

    encoder_digest: digest of the encoder's tensors, or of `tokenizer.json` if there is no encoder.
    """

    format: Literal[1]
    kind: Literal["coin"]
    task: Annotated[str, one_of(tasks_of("coin"))]
    language: str
    encoder: str | None = None
    vocabulary: Vocabulary | None = None
    max_tokens: int = Field(50, ge=1, le=250)
    model: CoinConfig
    data: Data
    training: CoinTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _has_words(self) -> CoinCheckpoint:
        if (self.encoder is None) == (self.vocabulary is None):
            raise ValueError("name a vocabulary, whose vectors are learnt, or the encoder whose table is read: one")
        return self
