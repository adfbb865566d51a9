"""QANet (Yu et al. 2018): convolutions and self-attention in place of LSTMs.  Its own similarity: trilinear."""

from __future__ import annotations

from math import gcd

import torch
from torch import Tensor, nn
from torch.nn.functional import relu, scaled_dot_product_attention

from triattn_core.attention.dropout import Dropout
from triattn_core.attention.multi_head import sinusoids
from triattn_core.attention.qa import QaMatrix
from triattn_core.attention.qa_flows import context_query
from triattn_core.attention.sequence import token_positions
from triattn_core.attention.states import States, join_heads, split_heads
from triattn_core.configs.reader import ReaderConfig
from triattn_core.models.reader import Answering
from triattn_core.models.systems.highway import Highway

HEADS, BLOCKS, PASSES = 8, 7, 3  # section 3.1: the same blocks are applied three times
SURVIVES = 0.9  # survival probability of the last sublayer of a stack in training (stochastic depth)


class Convolution(nn.Module):
    """Depthwise separable, then relu: [B, n, d] → the same."""

    def __init__(self, d: int, kernel: int):
        super().__init__()
        self.depth, self.point = nn.Conv1d(d, d, kernel, padding=kernel // 2, groups=d), nn.Linear(d, d)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        return relu(self.point(self.depth(x.masked_fill(~keep[..., None], 0.0).mT).mT))


class SelfAttention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017) of at most HEADS heads."""

    def __init__(self, d: int):
        super().__init__()
        self.heads = gcd(HEADS, d)
        self.taken, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        q, k, v = (split_heads(projection, self.heads) for projection in self.taken(x).chunk(3, -1))
        return self.out(join_heads(scaled_dot_product_attention(q, k, v, keep[:, None, None, :])))


class FeedForward(nn.Module):
    """Two layers with a relu between them."""

    def __init__(self, d: int):
        super().__init__()
        self.one, self.two = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        return self.two(relu(self.one(x)))


class Block(nn.Module):
    """Positions added; then convolutions, self-attention and a feed-forward layer, each as `x + f(norm(x))`."""

    def __init__(self, d: int, convolutions: int, kernel: int, dropout: float):
        super().__init__()
        parts = [*(Convolution(d, kernel) for _ in range(convolutions)), SelfAttention(d), FeedForward(d)]
        self.parts = nn.ModuleList(parts)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in parts)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        x = x + sinusoids(token_positions(keep), x.shape[-1]).to(x.dtype)
        for number, (part, norm) in enumerate(zip(self.parts, self.norms), 1):
            left_out = (1 - SURVIVES) * number / len(self.parts)
            if not (self.training and torch.rand(()) < left_out):
                x = x + self.dropout(part(norm(x), keep))
        return x


class Qanet(Answering):
    """Section 2, without character embeddings: one block of four convolutions encodes, seven of two model."""

    def __init__(self, config: ReaderConfig, words: int):
        super().__init__()
        d = config.hidden
        self.dropout = Dropout(config.dropout)
        self.project, self.highway = nn.Linear(words, config.width), Highway(config.width)
        self.widen, self.encode = nn.Linear(config.width, d), Block(d, 4, 7, config.dropout)
        self.attention = QaMatrix(d, config.similarity)
        self.narrow = nn.Linear(4 * d, d)
        self.blocks = nn.ModuleList(Block(d, 2, 5, config.dropout) for _ in range(BLOCKS))
        self.start, self.end = nn.Linear(2 * d, 1), nn.Linear(2 * d, 1)

    def encode_text(self, text: States) -> Tensor:
        return self.encode(self.widen(self.highway(self.project(self.dropout(text.vectors)))), text.keep)

    def scores(self, passage: States, question: States) -> Tensor:
        """Start from the first pass and the second, end from the first and the third."""
        S = self.attention(passage, question)
        x = self.narrow(context_query(passage.vectors, question.vectors, S, passage.keep, question.keep))
        passes = []
        for _ in range(PASSES):
            for block in self.blocks:
                x = block(self.dropout(x) if block is self.blocks[0] else x, passage.keep)
            passes.append(x)
        first, second, third = passes
        return torch.cat([self.start(torch.cat([first, second], -1)), self.end(torch.cat([first, third], -1))], -1)
