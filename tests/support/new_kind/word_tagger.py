"""A model as somebody adds it: self-attention over word vectors, and the scores of each token's tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from torch import Tensor, nn

from triattn_core.attention.states import States
from triattn_core.configs.parts import CheckpointConfig, SentenceData, SentenceTraining
from triattn_core.configs.sentence import SentenceConfig
from triattn_core.literal import one_of
from triattn_core.models.fusion import FUSIONS
from triattn_core.tasks import tasks_of
from triattn_core.trace.site import Site


class LabellerCheckpoint(CheckpointConfig):
    """The config.json of a labeller."""

    format: Literal[1]
    kind: Literal["labeller"]
    task: Annotated[str, one_of(tasks_of("labeller"))]
    language: str
    encoder: str
    max_tokens: int = 64
    model: SentenceConfig
    data: SentenceData
    training: SentenceTraining
    encoder_digest: str | None = None
    digest: str | None = None


class Labeller(nn.Module):
    """Scores [B, n, tags] of the tokens of the only text."""

    def __init__(self, config: SentenceConfig, words: int, tags: int):
        super().__init__()
        self.first = nn.Linear(words, config.width)
        self.layer = FUSIONS[config.mechanism](config.width, config)
        self.predict = nn.Linear(config.out, tags)

    def forward(self, texts: Sequence[States]) -> Tensor:
        (states,) = texts
        return self.predict(self.layer(self.first(states.vectors), states.keep, Site(layer=0)))
