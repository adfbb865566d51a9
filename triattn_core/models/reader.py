"""The baseline reader (the T-trilinear paper, section 3): finds the answer to a question in a passage.

It differs from the paper in three ways.  H, U, Z and G have d features, d / 2 from each direction of an LSTM, and start
and end are predicted from 2d; the paper prints d for H and U, 2d for Z, and weights of 4d (Eqs. 1, 2 and 11).  The
linear layers inside a similarity function (fnn, concat_fnn, general1 to 3, T-trilinear) have no dropout; its section
5.2 has it on the input of every linear layer but the answer's.  The average of the weights starts with a smaller decay,
see `training.ema`.  The projection of word vectors is linear; the paper only says FNN.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from triattn_core.attention.dropout import Dropout
from triattn_core.attention.qa import QaAttention, QaMatrix
from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.states import States
from triattn_core.attention.tap import tap
from triattn_core.configs.reader import ReaderConfig
from triattn_core.models.fusion.recurrent import Recurrent
from triattn_core.trace.site import Site

LOWEST = torch.finfo(torch.float32).min / 2


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
