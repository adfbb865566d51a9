"""Settings of a reader, and its config.json."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triattn_core.configs.names import OUTPUTS, QA_SIMILARITIES
from triattn_core.configs.parts import CheckpointConfig, ReaderTraining, SentenceData
from triattn_core.configs.vectors import VectorSource
from triattn_core.literal import one_of
from triattn_core.tasks import tasks_of


class ReaderConfig(BaseModel):
    """Settings of a reader; the defaults are the paper's sizes.

    mechanism: the baseline, or a system of `models.systems`.  output: of the baseline's attention.  vectors:
    `embedding` or `layer:k`, see `models.word_vectors`.  width: of a projected word vector.  hidden: d, features of a
    state.  dropout: on the inputs of LSTMs and of the projection; not of the linear layers that predict the answer, nor
    of those inside a similarity function.  longest: most words of an answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Literal["baseline", "bidaf", "dcn", "qanet"] = "baseline"
    similarity: Annotated[str, one_of(QA_SIMILARITIES)]
    output: Annotated[str, one_of(OUTPUTS)] = "O_2"
    vectors: VectorSource = "embedding"
    width: int = Field(100, ge=1)
    hidden: int = Field(200, ge=2, multiple_of=2)
    dropout: float = Field(0.2, ge=0, lt=1)
    longest: int = Field(20, ge=1)

    @model_validator(mode="after")
    def _fits(self) -> ReaderConfig:
        if self.mechanism != "baseline" and self.output != "O_2":
            raise ValueError(f"output {self.output} is the baseline's: take it out of a config of {self.mechanism}")
        return self

    @property
    def about(self) -> dict[str, str | int]:
        """Facts about the model that its traces record."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "output", "vectors")}


class ReaderCheckpoint(CheckpointConfig):
    """A reader of passages; `max_tokens` is the size of a passage window.  Without `dev`, passages are held out."""

    format: Literal[1]
    kind: Literal["reader"]
    task: Annotated[str, one_of(tasks_of("reader"))]
    language: str
    encoder: str
    max_tokens: int = Field(400, ge=8, le=2048)
    model: ReaderConfig
    data: SentenceData
    training: ReaderTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _without_folds(self) -> ReaderCheckpoint:
        if self.data.folds:
            raise ValueError("folds apply only to sentence data sets without a split; remove them")
        return self
