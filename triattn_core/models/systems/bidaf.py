"""BiDAF (Seo et al. 2017): attention both ways, two modelling LSTMs, start and end.  Its own similarity: trilinear."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from triattn_core.attention.qa import QaMatrix
from triattn_core.attention.qa_flows import attention_flow
from triattn_core.attention.states import States
from triattn_core.configs.reader import ReaderConfig
from triattn_core.models.fusion.recurrent import Recurrent
from triattn_core.models.reader import Answering
from triattn_core.models.systems.highway import Highway


class Bidaf(Answering):
    """Section 2, without character embeddings: projected word vectors, two highway layers, and LSTMs of d / 2 features
    in each direction."""

    def __init__(self, config: ReaderConfig, words: int):
        super().__init__()
        d = config.hidden
        self.dropout = nn.Dropout(config.dropout)
        self.project, self.highway = nn.Linear(words, config.width), Highway(config.width)
        self.encode = Recurrent(nn.LSTM, config.width, d)
        self.attention = QaMatrix(d, config.similarity)
        self.first, self.second, self.last = (Recurrent(nn.LSTM, size, d) for size in (4 * d, d, d))
        self.start, self.end = nn.Linear(5 * d, 1), nn.Linear(5 * d, 1)

    def encode_text(self, text: States) -> Tensor:
        return self.encode(self.dropout(self.highway(self.project(self.dropout(text.vectors)))), text.keep)

    def scores(self, passage: States, question: States) -> Tensor:
        """Eqs. 3 and 4, and the end from a further LSTM."""
        S = self.attention(passage, question)
        G = attention_flow(passage.vectors, question.vectors, S, passage.keep, question.keep)
        M = self.first(self.dropout(G), passage.keep)
        M = self.second(self.dropout(M), passage.keep)
        M2 = self.last(self.dropout(M), passage.keep)
        return torch.cat([self.start(torch.cat([G, M], -1)), self.end(torch.cat([G, M2], -1))], -1)
