"""Settings of a model of *which two numbers make this one?*, and its config.json."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triattn_core.configs.names import SIMILARITIES
from triattn_core.configs.parts import CheckpointConfig, Strict, Training
from triattn_core.literal import known, one_of
from triattn_core.tasks.operands.gsm8k import MOST
from triattn_core.text.roles import Limits

MECHANISMS = ("tri", "bi", "cbi")


class OperandsConfig(BaseModel):
    """What makes one model of operands differ from another.

    mechanism: `tri` scores both operands together with the number; `bi` has one softmax for each operand, and a pair's
    weight is their product; of `cbi` every token carries the mean of the numbers besides.  before: layers of two-way
    self-attention over the number made and all numbers, before.  inputs: what is known of a number.  operation: how it
    is read which operation made the number, from the weights, see `operation_reader`; `none`: it is not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Annotated[str, one_of(MECHANISMS)]
    similarity: Annotated[str, known(SIMILARITIES)] = "scaled_dot"
    before: int = Field(0, ge=0, le=3)
    heads: int = Field(1, ge=1)
    hidden: int = Field(128, ge=4, le=512)
    inputs: Literal["values", "words", "both"] = "both"
    operation: Literal["none", "mean", "choice", "pairs"] = "none"

    @model_validator(mode="after")
    def _fits(self) -> OperandsConfig:
        if self.hidden % self.heads:
            raise ValueError(f"{self.hidden} features are not divisible by {self.heads} heads")
        return self

    @property
    def about(self) -> dict[str, str | int]:
        """What a trace says of the model that left it."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "before", "heads", "inputs")}


class OperandsData(Strict):
    """train: one set, of which `dev_problems` problems, drawn from `split_seed`, are dev: all steps of each."""

    train: tuple[str, ...] = Field(min_length=1, max_length=1)
    dev: None = None
    test: str | None = None
    dev_problems: int = Field(600, ge=1)
    split_seed: int = Field(0, ge=0)


class OperandsTraining(Training):
    """AdamW with a short warm-up and a linear decay; the last weights are kept.

    redrawn: the share of the rows of a batch that get new numbers, see `training.operands.redraw`.  told: what the loss
    knows: the annotated pair; which pairs make the number by arithmetic, as a calculator would say, and no more; or the
    operation alone, after a share `pointed` of the steps in which it knows the pair besides.
    """

    rate: float = Field(3e-3, gt=0, lt=1)
    batch: int = Field(128, ge=1)
    redrawn: float = Field(0.5, ge=0, le=1)
    told: Literal["pair", "arithmetic", "operation"] = "pair"
    pointed: float = Field(0.0, ge=0, lt=1)


class OperandsCheckpoint(CheckpointConfig):
    """A model of *which two numbers make this one?*.

    encoder: what reads the words, frozen; without one, vectors of words are learnt.
    """

    format: Literal[1]
    kind: Literal["operands"]
    task: Literal["operands"] = "operands"
    language: Literal["en"] = "en"
    encoder: str | None = None
    model: OperandsConfig
    data: OperandsData
    training: OperandsTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _settings_fit_together(self) -> OperandsCheckpoint:
        if (self.training.told == "operation") != (self.model.operation != "none"):
            raise ValueError("training.told: operation needs a model.operation that is not none, and no other does")
        if self.training.pointed and self.training.told != "operation":
            raise ValueError("training.pointed applies only where training.told is operation")
        if self.encoder and self.model.inputs == "values":
            raise ValueError("encoder applies only where model.inputs are words or both")
        return self

    @property
    def limits(self) -> Limits:
        """Problems are read whole."""
        return Limits(MOST)
