"""Dynamic coattention network (Xiong et al. 2017): coattention with sentinels, and a decoder that revises its guess of
start and end.  Its own similarity: dot.

It differs from the paper: the question's sentinel is added after the tanh of Eq. 1, not before it; there are always 4
guesses, where the paper stops when a guess stays the same; the loss is that of the last guess, the paper's the sum over
all of them; and the encoder's LSTM goes both ways, the paper's forwards alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from triattn_core.attention.dropout import Dropout
from triattn_core.attention.qa import QaMatrix
from triattn_core.attention.qa_flows import coattention
from triattn_core.attention.states import States
from triattn_core.configs.reader import ReaderConfig
from triattn_core.models.fusion.recurrent import Recurrent
from triattn_core.models.reader import Answering

GUESSES, POOL = 4, 16  # section 3.2


class Maxout(nn.Module):
    """Highway maxout network: how well each word fits as start or end, given a state and the guess (Eqs. 9 to 12)."""

    def __init__(self, d: int):
        super().__init__()
        self.d = d
        self.given = nn.Linear(5 * d, d, bias=False)
        self.one, self.two, self.both = nn.Linear(3 * d, POOL * d), nn.Linear(d, POOL * d), nn.Linear(2 * d, POOL)

    def of_words(self, U: Tensor) -> Tensor:
        """The part of the first layer that every guess shares: [B, M, POOL * d] of U [B, M, 2d]."""
        return linear(U, self.one.weight[:, : 2 * self.d])

    def forward(self, words: Tensor, state: Tensor, guess: Tensor) -> Tensor:
        """[B, M] of `of_words(U)`, the decoder's state [B, d] and both guessed words [B, 4d]."""
        r = torch.tanh(self.given(torch.cat([state, guess], -1)))
        of_guess = linear(r, self.one.weight[:, 2 * self.d :], self.one.bias)
        first = self._pool(words + of_guess[:, None])
        second = self._pool(self.two(first))
        return self.both(torch.cat([first, second], -1)).amax(-1)

    def _pool(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (POOL, self.d)).amax(-2)


class Dcn(Answering):
    """Sections 2 and 3; the module says how it differs from the paper."""

    def __init__(self, config: ReaderConfig, words: int):
        super().__init__()
        d = config.hidden
        self.dropout = Dropout(config.dropout)
        self.project, self.encode = nn.Linear(words, config.width), Recurrent(nn.LSTM, config.width, d)
        self.asked = nn.Linear(d, d)
        self.sentinels = nn.Parameter(torch.randn(2, d) / d**0.5)  # of the passage, of the question
        self.attention = QaMatrix(d, config.similarity)
        self.fuse, self.decode = Recurrent(nn.LSTM, 3 * d, 2 * d), nn.LSTMCell(4 * d, d)
        self.start, self.end = Maxout(d), Maxout(d)

    def encode_text(self, text: States) -> Tensor:
        return self.encode(self.dropout(self.project(self.dropout(text.vectors))), text.keep)

    def states(self, texts) -> tuple[States, States]:
        """D and Q; the question goes through a layer of its own (Eq. 1)."""
        passage, question = super().states(texts)
        return passage, States(torch.tanh(self.asked(question.vectors)), question.keep)

    def scores(self, passage: States, question: States) -> Tensor:
        D, Q = (self._append_sentinel(text, end) for text, end in zip((passage, question), self.sentinels))
        L = self.attention(D, Q, beyond=1)
        coattended = coattention(D.vectors, Q.vectors, L, D.keep, Q.keep, beyond=1)[:, :-1]
        U = self.fuse(self.dropout(torch.cat([passage.vectors, coattended], -1)), passage.keep)
        return self._decode(U, passage.keep)

    @staticmethod
    def _append_sentinel(text: States, end: Tensor) -> States:
        vectors = torch.cat([text.vectors, end.to(text.vectors.dtype).expand(len(text.vectors), 1, -1)], 1)
        return States(vectors, pad(text.keep, (0, 1), value=True))

    def _decode(self, U: Tensor, keep: Tensor) -> Tensor:
        """[B, M, 2] of the last guess; the first one is the passage's first word and its last."""
        rows, least = torch.arange(len(U), device=U.device), torch.finfo(U.dtype).min / 2
        first, last = keep.int().argmax(1), keep.shape[1] - 1 - keep.flip(1).int().argmax(1)
        state = U.new_zeros(len(U), self.decode.hidden_size), U.new_zeros(len(U), self.decode.hidden_size)
        start_words, end_words = self.start.of_words(U), self.end.of_words(U)
        for _ in range(GUESSES):
            guess = torch.cat([U[rows, first], U[rows, last]], -1)
            state = self.decode(guess, state)
            start = self.start(start_words, state[0], guess)
            first = start.masked_fill(~keep, least).argmax(1)
            end = self.end(end_words, state[0], torch.cat([U[rows, first], U[rows, last]], -1))
            last = end.masked_fill(~keep, least).argmax(1)
        return torch.stack([start, end], -1)
