"""Settings of a sentence model, and its config.json."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from triattn_core.configs import mask_names
from triattn_core.configs.fusion import FusionSettings
from triattn_core.configs.names import FUSIONS
from triattn_core.configs.parts import CheckpointConfig, SentenceData, SentenceTraining
from triattn_core.configs.vectors import TABLE, FineTuned, VectorSource
from triattn_core.literal import one_of
from triattn_core.tasks import TASKS, tasks_of


class SentenceConfig(FusionSettings):
    """Settings of a sentence model; the defaults are the paper's sizes.

    vectors: `embedding` or `layer:k`, see `models.word_vectors`.  fine_tuned: the encoder layers after layer k that are
    trained with the model; without them the encoder is frozen.  width: features of a token before the first block.
    layers: number of stacked blocks.  keep: the share of the inputs of every fully connected layer and block that
    dropout keeps (p_kp of appendix B).  activation: of all fully connected layers.
    """

    mechanism: Annotated[str, one_of(FUSIONS)]
    vectors: VectorSource = "embedding"
    fine_tuned: FineTuned | None = None
    width: int = Field(300, ge=1)
    layers: int = Field(1, ge=1, le=12)
    hidden: int = Field(300, ge=1)
    keep: float = Field(0.5, gt=0, le=1)

    @model_validator(mode="after")
    def _after_a_layer(self) -> SentenceConfig:
        if self.fine_tuned and self.vectors == TABLE:
            raise ValueError("fine_tuned: layers follow a layer: let vectors be layer:k")
        return self

    @property
    def about(self) -> dict[str, str | int]:
        """Facts about the model that its traces record."""
        facts = {name: getattr(self, name) for name in ("mechanism", "vectors", "layers", "heads")}
        if self.fine_tuned:
            facts["fine_tuned_layers"] = self.fine_tuned.layers
        if self.mechanism != "mtsa":
            return facts
        scales = {"scale_t": self.scale_t, "scale_s": self.scale_s}
        return {**facts, **scales, "masks": ",".join(mask_names.of_heads(self.masks, self.heads))}


class SentenceCheckpoint(CheckpointConfig):
    """A sentence model; `labels` names the classes of its data set in order (`labels.json`)."""

    format: Literal[1]
    kind: Literal["sentence"]
    task: Annotated[str, one_of(tasks_of("sentence"))]
    language: str
    encoder: str
    max_tokens: int = Field(128, ge=1, le=2048)
    labels: tuple[str, ...] = ()
    model: SentenceConfig
    data: SentenceData
    training: SentenceTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _fits_its_task(self) -> SentenceCheckpoint:
        own_classes = TASKS[self.task].OUTPUTS is None  # those of the checkpoint's data set, not of the task
        if own_classes and len(set(self.labels)) < max(2, len(self.labels)):
            raise ValueError("labels: name the classes of the data set, each once, at least two")
        if not own_classes and self.labels:
            raise ValueError(f"labels are fixed by the task {self.task}: remove them")
        if self.data.folds and self.training.more_seeds:
            raise ValueError("more_seeds cannot be combined with folds, whose variance is measured; remove more_seeds")
        return self
