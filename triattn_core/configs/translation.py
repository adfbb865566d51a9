"""Settings of a translation model, and its config.json."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from triattn_core.configs import mask_names
from triattn_core.configs.fusion import FusionSettings
from triattn_core.configs.parts import CheckpointConfig, TranslationData, TranslationTraining
from triattn_core.literal import one_of
from triattn_core.tasks import tasks_of

ENCODERS = ("mtsa", "multi_head")


class TranslationConfig(FusionSettings):
    """Settings of a translation model; `out` is the width of all layers, `heads` and `attention_keep` those of all
    attention.

    layers: of the encoder, and as many of the decoder.  feed_forward: hidden features of that sublayer.  keep: the
    share of embeddings, and of a sublayer's output, that dropout keeps.  Defaults are those of the Transformer (base).
    """

    block_positions: ClassVar[bool] = False  # sinusoids are added once, to the input

    mechanism: Annotated[str, one_of(ENCODERS)]
    out: int = Field(512, ge=2)
    layers: int = Field(6, ge=1, le=12)
    feed_forward: int = Field(2048, ge=1)
    keep: float = Field(0.9, gt=0, le=1)

    @property
    def about(self) -> dict[str, str | int]:
        """Facts about the model that its traces record."""
        facts = {name: getattr(self, name) for name in ("mechanism", "layers", "heads")}
        if self.mechanism != "mtsa":
            return facts
        scales = {"scale_t": self.scale_t, "scale_s": self.scale_s}
        return {**facts, **scales, "masks": ",".join(mask_names.of_heads(self.masks, self.heads))}


class TranslationCheckpoint(CheckpointConfig):
    """A translation model with its own sub-words, in `tokenizer.json`; `max_tokens`: of a source, and of a target.

    beams, length_penalty: of its beam search.  encoder_digest: digest of the sub-words.
    """

    format: Literal[1]
    kind: Literal["translation"]
    task: Annotated[str, one_of(tasks_of("translation"))]
    language: str
    target_language: str
    encoder: None = None
    max_tokens: int = Field(128, ge=1, le=1024)
    model: TranslationConfig
    data: TranslationData
    training: TranslationTraining
    beams: int = Field(4, ge=1, le=32)
    length_penalty: float = Field(0.6, ge=0, le=2)
    encoder_digest: str | None = None
    digest: str | None = None
