"""Settings of a tagger, and its config.json."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from triattn_core.configs import mask_names
from triattn_core.configs.fusion import FusionSettings
from triattn_core.configs.names import FUSIONS
from triattn_core.configs.parts import CheckpointConfig, TaggerData, TaggerTraining
from triattn_core.configs.vectors import VectorSource
from triattn_core.literal import one_of
from triattn_core.tasks import tasks_of


class TaggerConfig(FusionSettings):
    """Settings of a tagger; `out` is the width of all layers.

    vectors: `embedding` or `layer:k`, see `models.word_vectors`.  feed_forward: hidden features of that sublayer.
    positions: whether sinusoids are added to the input.  keep: the share of a sublayer's output that dropout keeps;
    hidden_keep: of the feed-forward sublayer's hidden features.  The defaults are the sizes of Tan et al.
    """

    block_positions: ClassVar[bool] = False  # sinusoids are added once, to the input

    mechanism: Annotated[str, one_of(FUSIONS)]
    vectors: VectorSource = "embedding"
    out: int = Field(200, ge=2)
    layers: int = Field(10, ge=1, le=24)
    feed_forward: int = Field(800, ge=1)
    positions: bool = False
    keep: float = Field(0.8, gt=0, le=1)
    hidden_keep: float = Field(0.9, gt=0, le=1)

    @property
    def about(self) -> dict[str, str | int]:
        """Facts about the model that its traces record."""
        facts = {name: getattr(self, name) for name in ("mechanism", "vectors", "layers", "heads")}
        if self.mechanism != "mtsa":
            return facts
        scales = {"scale_t": self.scale_t, "scale_s": self.scale_s}
        return {**facts, **scales, "masks": ",".join(mask_names.of_heads(self.masks, self.heads))}


class TaggerCheckpoint(CheckpointConfig):
    """A tagger of words; `labels` names the labels of its BIO tags, that of the predicate too; `max_tokens`: words."""

    format: Literal[1]
    kind: Literal["tagger"]
    task: Annotated[str, one_of(tasks_of("tagger"))]
    language: str
    encoder: str
    max_tokens: int = Field(256, ge=1, le=2048)
    labels: tuple[str, ...] = Field(min_length=1)
    model: TaggerConfig
    data: TaggerData
    training: TaggerTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _labels_once(self) -> TaggerCheckpoint:
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels: name each label once")
        return self
