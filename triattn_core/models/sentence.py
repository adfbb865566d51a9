"""Sentence models (Shen et al. 2019, section 4): word vectors, context fusion, pooling, classifier.

One text is classified by its vector s; a premise and a hypothesis by [p, h, p - h, p * h] (section 4.1; Bowman et al.
2016), both encoded with the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from triattn_core.attention import masks
from triattn_core.attention.pooling import Source2TokenPooling
from triattn_core.attention.states import States
from triattn_core.checkpoint.config_parts import CheckpointConfig, SentenceData, SentenceTraining
from triattn_core.literal import one_of
from triattn_core.models.encoder_layers import EncoderLayers, FineTuned
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.fusion.settings import ACTIVATIONS, FusionSettings
from triattn_core.models.word_vectors import TABLE, VectorSource
from triattn_core.tasks import TASKS, tasks_of
from triattn_core.trace.site import Site


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
        return {**facts, **scales, "masks": ",".join(masks.of_heads(self.masks, self.heads))}


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


class SentenceModel(nn.Module):
    """Logits of a batch; `texts`: the names of the task's texts, one or two."""

    def __init__(self, config: SentenceConfig, words: int, outputs: int, texts: Sequence[str] = ("text",)):
        super().__init__()
        self.texts = tuple(texts)
        act = ACTIVATIONS[config.activation]
        self.dropout, self.activation = nn.Dropout(1 - config.keep), act()
        self.encoder_layers = EncoderLayers(words, config.fine_tuned) if config.fine_tuned else None
        self.first = nn.Linear(words, config.width)
        widths = [config.width, *[config.out] * (config.layers - 1)]
        self.layers = nn.ModuleList(FUSIONS[config.mechanism](width, config) for width in widths)
        self.pool = Source2TokenPooling(config.out, act())
        size = config.out * (4 if len(self.texts) > 1 else 1)
        self.hidden, self.predict = nn.Linear(size, config.hidden), nn.Linear(config.hidden, outputs)
        for module in self.modules():
            if isinstance(module, nn.Linear):  # appendix B
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, texts: Sequence[States]) -> Tensor:
        """[B, outputs].  With two texts, each taps its sites under its name: `premise/layer.0/…`, `premise/pool/…`."""
        several = len(self.texts) > 1
        vectors = [self.sentence(states, name if several else "") for name, states in zip(self.texts, texts)]
        features = vectors[0]
        if several:
            p, h = vectors
            features = torch.cat([p, h, p - h, p * h], -1)
        return self.predict(self.dropout(self.activation(self.hidden(self.dropout(features)))))

    def sentence(self, states: States, name: str = "") -> Tensor:
        """The vector [B, out] of each text; name: that of the text, in the sites of its taps."""
        keep = states.keep
        if self.encoder_layers is not None:
            states = self.encoder_layers(states)
        x = self.activation(self.first(self.dropout(states.vectors)))
        for i, layer in enumerate(self.layers):
            fused = layer(self.dropout(x), keep, Site(name, i)).masked_fill(~keep[..., None], 0.0)
            x = x + fused if i else fused  # stacked blocks have residual connections
        return self.pool(self.dropout(x), keep, Site(role="pool").under(name))
