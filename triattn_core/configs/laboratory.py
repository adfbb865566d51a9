"""Settings of a laboratory model, and its config.json."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triattn_core.configs.names import SIMILARITIES
from triattn_core.configs.parts import CheckpointConfig, LaboratoryData, LaboratoryTraining
from triattn_core.errors import ConfigError
from triattn_core.literal import known, one_of
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.tasks.laboratory.example import MOST
from triattn_core.text.roles import Limits

BLOCKS = ("bi_joint", "cbi", "tri")  # attention over tokens, each a block of `models.laboratory`
MECHANISMS = (*BLOCKS, "triangle")


class LaboratoryConfig(BaseModel):
    """What makes one laboratory model differ from another.

    mechanism: `bi_joint` is two-way attention over the one sequence of query, keys and context; of `cbi` every token
    carries the mean of the context; `tri` reads key and context together; `triangle` reads the tokens as a grid of
    pairs, of tasks whose tokens are pairs.  inputs: words' vectors are learnt, or
    residues come as frozen Fourier features.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Annotated[str, one_of(MECHANISMS)]
    similarity: Annotated[str, known(SIMILARITIES)] = "scaled_dot"
    value: str | None = None
    layers: int = Field(1, ge=1, le=3)
    heads: int = Field(1, ge=1)
    hidden: int = Field(32, ge=2, le=256)
    inputs: Literal["learnt", "fourier"] = "learnt"

    @model_validator(mode="after")
    def _fits(self) -> LaboratoryConfig:
        if self.layers > 1 and self.mechanism != "bi_joint":
            raise ValueError("layers: only bi_joint is stacked here; of the others one layer is compared")
        if self.hidden % self.heads:
            raise ValueError(f"{self.hidden} features are not divisible by {self.heads} heads")
        return self

    @property
    def about(self) -> dict[str, str | int]:
        """What a trace says of the model that left it."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "layers", "heads")}


class LaboratoryCheckpoint(CheckpointConfig):
    """A small model of a laboratory task, which generates its rows and defines its words."""

    format: Literal[1]
    kind: Literal["laboratory"]
    task: Annotated[str, one_of(LABORATORY)]
    language: Literal["en"] = "en"
    model: LaboratoryConfig
    data: LaboratoryData = LaboratoryData()
    training: LaboratoryTraining
    digest: str | None = None

    @property
    def limits(self) -> Limits:
        """Laboratory rows are read whole."""
        return Limits(MOST)

    @property
    def sets(self) -> tuple[str, ...]:
        """None: rows are generated."""
        return ()

    @model_validator(mode="after")
    def _fits_its_task(self) -> LaboratoryCheckpoint:
        try:
            LABORATORY[self.task].at_size(self.data.size)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        if self.model.inputs == "fourier" and not LABORATORY[self.task].MODULUS:
            raise ValueError(f"inputs: fourier is for tasks on residues, and {self.task} is none")
        if self.model.mechanism == "triangle" and not LABORATORY[self.task].NODES:
            raise ValueError(
                f"mechanism: triangle is for tasks whose tokens are pairs, and those of {self.task} are not"
            )
        return self
