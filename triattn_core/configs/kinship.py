"""Settings of a model of *how are two people related?*, and its config.json."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triattn_core.configs.laboratory import MECHANISMS
from triattn_core.configs.names import SIMILARITIES
from triattn_core.configs.parts import CheckpointConfig, Strict, Training
from triattn_core.literal import known, one_of
from triattn_core.tasks.kinship.story import MOST_LINKS
from triattn_core.text.roles import Limits


class KinshipConfig(BaseModel):
    """What makes one model of family stories differ from another.

    mechanism: as of laboratory models; `triangle` reads a grid of people × people, and each layer asks of every two of
    them what all third ones tell, around both ends.  distinct: Tri pairs no link with itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Annotated[str, one_of(MECHANISMS)]
    similarity: Annotated[str, known(SIMILARITIES)] = "scaled_dot"
    value: str | None = None
    layers: int = Field(1, ge=1, le=6)
    heads: int = Field(4, ge=1)
    hidden: int = Field(64, ge=4, le=512)
    distinct: bool = False

    @model_validator(mode="after")
    def _fits(self) -> KinshipConfig:
        if self.layers > 1 and self.mechanism not in ("bi_joint", "triangle"):
            raise ValueError("layers: only bi_joint and triangle are stacked; of the others one layer is compared")
        if self.hidden % self.heads:
            raise ValueError(f"{self.hidden} features are not divisible by {self.heads} heads")
        return self

    @property
    def about(self) -> dict[str, str | int]:
        """What a trace says of the model that left it."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "layers", "heads")}


class KinshipData(Strict):
    """train: one set; a share `dev_share` of its stories, drawn from `split_seed`, is dev; nothing is chosen on it."""

    train: tuple[str, ...] = Field(min_length=1, max_length=1)
    dev: None = None
    test: str | None = None
    dev_share: float = Field(0.1, gt=0, lt=1)
    split_seed: int = Field(0, ge=0)


class KinshipTraining(Training):
    """AdamW with a short warm-up and a linear decay; the last weights are kept."""

    rate: float = Field(1e-3, gt=0, lt=1)
    batch: int = Field(64, ge=1)


class KinshipCheckpoint(CheckpointConfig):
    """A model of *how are two people related?*."""

    format: Literal[1]
    kind: Literal["kinship"]
    task: Literal["kinship"] = "kinship"
    language: Literal["en"] = "en"
    model: KinshipConfig
    data: KinshipData
    training: KinshipTraining
    digest: str | None = None

    @property
    def limits(self) -> Limits:
        """Stories are read whole."""
        return Limits(MOST_LINKS)
