"""Deep taggers (Tan et al. 2018, "Deep semantic role labeling with self-attention"), with any block of `fusion`.

Each layer is a feed-forward sublayer and then a block that mixes context into each token, both with a residual
connection and layer normalisation: x = norm(x + sublayer(x)).  The input is a projection of a word's vector, plus a
learnt vector that marks the predicate; the output a score of each tag for each word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn.functional import dropout, relu

from triattn_core.attention import masks
from triattn_core.attention.multi_head import sinusoids
from triattn_core.attention.sequence import token_positions
from triattn_core.checkpoint.config_parts import CheckpointConfig, TaggerData, TaggerTraining
from triattn_core.inference.batch import TextBatch
from triattn_core.literal import one_of
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.fusion.settings import FusionSettings
from triattn_core.models.word_vectors import VectorSource, WordVectors
from triattn_core.tasks import tasks_of
from triattn_core.trace.site import Site


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
        return {**facts, **scales, "masks": ",".join(masks.of_heads(self.masks, self.heads))}


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


@dataclass(frozen=True)
class MarkedStates:
    """The input of a tagger.

    vectors: [B, n, h], of words.  keep: [B, n] bool, True = a real word.  marked: [B, n] bool, the predicate.
    """

    vectors: Tensor
    keep: Tensor
    marked: Tensor


@dataclass(frozen=True)
class MarkedWords:
    """The frozen word vectors of a tagger's sentences, and the word that each marks by segment id 1."""

    words: WordVectors

    @property
    def hidden(self) -> int:
        """Width of a vector."""
        return self.words.hidden

    @property
    def digest(self) -> str:
        """Digest of the encoder's tensors."""
        return self.words.digest

    def __call__(self, batch: TextBatch) -> MarkedStates:
        (states,), (role,) = self.words(batch), batch.texts
        marked = role.types.float() if role.average is None else (role.average @ role.types[..., None].float())[..., 0]
        return MarkedStates(states.vectors, states.keep, marked > 0)


class TaggerLayer(nn.Module):
    """One layer: [B, n, out] → [B, n, out]."""

    def __init__(self, config: TaggerConfig):
        super().__init__()
        self.first, self.second = (
            nn.Linear(config.out, config.feed_forward),
            nn.Linear(config.feed_forward, config.out),
        )
        self.fusion = FUSIONS[config.mechanism](config.out, config)
        self.norms = nn.ModuleList(nn.LayerNorm(config.out) for _ in range(2))
        self.share, self.hidden_share = 1 - config.keep, 1 - config.hidden_keep

    def forward(self, x: Tensor, keep: Tensor, site: Site) -> Tensor:
        hidden = dropout(relu(self.first(x)), self.hidden_share, self.training)
        x = self.norms[0](x + dropout(self.second(hidden), self.share, self.training))
        fused = self.fusion(x, keep, site).masked_fill(~keep[..., None], 0.0)
        return self.norms[1](x + dropout(fused, self.share, self.training))


class Tagger(nn.Module):
    """Scores of tags [B, n, outputs], of word vectors of width `hidden`."""

    def __init__(self, config: TaggerConfig, hidden: int, outputs: int):
        super().__init__()
        self.input, self.mark = nn.Linear(hidden, config.out), nn.Parameter(torch.zeros(config.out))
        self.layers = nn.ModuleList(TaggerLayer(config) for _ in range(config.layers))
        self.predict = nn.Linear(config.out, outputs)
        self.positions, self.share = config.positions, 1 - config.keep
        nn.init.normal_(self.mark)

    def forward(self, states: MarkedStates) -> Tensor:
        """Layers tap their sites under `layer.0/…`, `layer.1/…`."""
        x = self.input(states.vectors) + states.marked[..., None] * self.mark
        if self.positions:
            x = x + sinusoids(token_positions(states.keep), x.shape[-1]).to(x.dtype)
        x = dropout(x, self.share, self.training)
        for i, layer in enumerate(cast(Any, self.layers)):
            x = layer(x, states.keep, Site(layer=i))
        return self.predict(x)
