"""The baseline reader (the T-trilinear paper, section 3): finds the answer to a question in a passage.

It differs from the paper in three ways.  H, U, Z and G have d features, d / 2 from each direction of an LSTM, and start
and end are predicted from 2d; the paper prints d for H and U, 2d for Z, and weights of 4d (Eqs. 1, 2 and 11).  The
linear layers inside a similarity function (fnn, concat_fnn, general1 to 3, T-trilinear) have no dropout; its section
5.2 has it on the input of every linear layer but the answer's.  The average of the weights starts with a smaller decay,
see `training.ema`.  The projection of word vectors is linear; the paper only says FNN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn

from triattn_core.attention.dropout import Dropout
from triattn_core.attention.qa import OUTPUTS, QaAttention, QaMatrix
from triattn_core.attention.qa_similarity import QA_SIMILARITIES
from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.states import States
from triattn_core.attention.tap import tap
from triattn_core.checkpoint.config_parts import CheckpointConfig, ReaderTraining, SentenceData
from triattn_core.literal import one_of
from triattn_core.models.fusion.recurrent import Recurrent
from triattn_core.models.word_vectors import VectorSource
from triattn_core.tasks import tasks_of
from triattn_core.trace.site import Site

LOWEST = torch.finfo(torch.float32).min / 2


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


class Answering(nn.Module):
    """Base of readers: scores of start and end of each passage word, before their softmax.

    Subclasses define `encode_text(text)` [B, n, d], the words in context, and `scores(passage, question)` [B, M, 2];
    `attention.similarity` is their similarity function.
    """

    attention: QaAttention | QaMatrix

    def forward(self, texts: Sequence[States]) -> Tensor:
        """Scores [B, M, 2] of passage and question, LOWEST at padding; taps `start/…` and `end/…`."""
        passage, question = self.states(texts)
        scores = self.scores(passage, question)
        for role, site_scores in zip(("start", "end"), scores.unbind(-1)):
            tap(Site(role=role), site_scores, ("query",), "relevance")
            tap(Site(role=role), kept_softmax(site_scores, passage.keep), ("query",), "weight", ("query",))
        return scores.float().masked_fill(~passage.keep[..., None], LOWEST)

    def states(self, texts: Sequence[States]) -> tuple[States, States]:
        """H and U of passage and question, encoded with the same weights."""
        passage, question = (States(self.encode_text(text), text.keep) for text in texts)
        return passage, question

    def encode_text(self, text: States) -> Tensor:
        raise NotImplementedError

    def scores(self, passage: States, question: States) -> Tensor:
        raise NotImplementedError


class Reader(Answering):
    """The baseline: Eqs. 1, 2 and 10 to 13; the module docstring says how it differs from the paper."""

    def __init__(self, config: ReaderConfig, words: int):
        super().__init__()
        d = config.hidden
        self.dropout = Dropout(config.dropout)
        self.project = nn.Linear(words, config.width)
        self.encode = Recurrent(nn.LSTM, config.width, d)
        self.attention = QaAttention(d, config.similarity, config.output)
        self.model, self.second = Recurrent(nn.LSTM, self.attention.features, d), Recurrent(nn.LSTM, d, d)
        self.start, self.end = nn.Linear(2 * d, 1), nn.Linear(2 * d, 1)

    def encode_text(self, text: States) -> Tensor:
        projected = self.project(self.dropout(text.vectors))
        return self.encode(self.dropout(projected), text.keep)

    def scores(self, passage: States, question: States) -> Tensor:
        H, keep = passage.vectors, passage.keep
        Z = self.model(self.dropout(self.attention(passage, question)), keep)
        G = self.second(self.dropout(Z), keep)
        return torch.cat([self.start(torch.cat([Z, H], -1)), self.end(torch.cat([G, H], -1))], -1)
