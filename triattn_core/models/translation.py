"""Transformers for translation (Vaswani et al. 2017) whose encoder has MTSA or multi-head attention.

As in "Tensorized Self-Attention" (Shen et al. 2019, section 4.4) the encoder's self-attention is the only difference.
Layers are y = norm(x + sublayer(x)); source, target and output share one table of sub-words, whose vectors are
multiplied by sqrt(width) before sinusoids are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import sqrt
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, linear, relu

from triattn_core.attention.multi_head import AXES, sinusoids
from triattn_core.attention.sequence import token_positions
from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.states import join_heads, split_heads
from triattn_core.attention.tap import tap
from triattn_core.attention.weight_override import heads_output, override_weights
from triattn_core.checkpoint.registry import require_regular
from triattn_core.configs.translation import TranslationConfig
from triattn_core.errors import CheckpointError
from triattn_core.models.coin import TOKENIZER
from triattn_core.models.fusion import FUSIONS
from triattn_core.text.sub_words import SubWords
from triattn_core.trace.site import Site

Past = tuple[Tensor, Tensor] | None  # keys and values [B, heads, t, D] of the sub-words before
SOURCE, TARGET, CROSS = "source", "target", "cross"  # modules of sites: encoder, decoder, target over source


@dataclass(frozen=True)
class Sentences:
    """Sub-words of a batch: ids [B, n] long, keep [B, n] bool, True = a real one, which come first."""

    ids: Tensor
    keep: Tensor

    def to(self, device: str | torch.device) -> Sentences:
        return Sentences(self.ids.to(device), self.keep.to(device))


def padded(sentences: Sequence[Sequence[int]], pad: int) -> Sentences:
    """Sub-words of sentences as one batch, padding last."""
    width = max(map(len, sentences))
    ids = torch.tensor([[*sentence, *[pad] * (width - len(sentence))] for sentence in sentences])
    return Sentences(ids, torch.arange(width) < torch.tensor([len(sentence) for sentence in sentences])[:, None])


@dataclass(frozen=True)
class SubWordIds:
    """What is not trained: nothing; a batch of sub-words is the model's input.  hidden: size of the vocabulary."""

    hidden: int
    digest: str

    def __call__(self, batch: Sentences) -> Sentences:
        """The batch."""
        return batch


def load_sub_words(folder: Path, expected: str | None) -> tuple[SubWordIds, SubWords]:
    """The sub-words of a checkpoint's folder.  Raises CheckpointError if their digest is not the recorded one."""
    file = require_regular(folder / TOKENIZER)
    sub_words = SubWords(file)
    digest = sha256(file.read_bytes()).hexdigest()
    if expected and digest != expected:
        raise CheckpointError(
            f"{file}: digest {digest[:12]}, but {expected[:12]} was recorded; copy the checkpoint again"
        )
    return SubWordIds(len(sub_words), digest), sub_words


class Attention(nn.Module):
    """softmax(q k' / sqrt(D)) v of states over a memory, in each head, heads joined, then W_o (Eqs. 1 and 5)."""

    def __init__(self, width: int, heads: int, keep: float = 1.0):
        super().__init__()
        self.heads, self.share = heads, 1 - keep
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, allowed: Tensor, site: Site) -> Tensor:
        """[B, m, width] of x [B, m, width] and memory [B, n, width]; allowed: [B, m or 1, n], True = is attended to.

        Taps `<site>/relevance` and `<site>/weight`, [head, query, key].
        """
        q, k, v = (
            split_heads(project(states), self.heads)
            for project, states in ((self.query, x), (self.key, memory), (self.value, memory))
        )
        relevance, allowed = q @ k.mT / sqrt(q.shape[-1]), allowed[:, None].expand(-1, -1, x.shape[1], -1)
        weights = kept_softmax(relevance, allowed)
        keeps = {"query": allowed.any(-1)[:, 0], "key": allowed.any(-2)[:, 0]}
        weights = override_weights(site.with_quantity("weight"), weights, keeps)
        tap(site, relevance, AXES, "relevance")
        tap(site, weights, AXES, "weight", ("key",))
        return self.out(join_heads(heads_output(dropout(weights, self.share, self.training) @ v, site)))

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [B, heads, n, D] of a memory [B, n, width]."""
        return split_heads(self.key(memory), self.heads), split_heads(self.value(memory), self.heads)

    def attend(self, x: Tensor, keys: Tensor, values: Tensor, closed: Tensor | None = None) -> Tensor:
        """As `forward` without dropout, of `keys_values`, not recorded; closed: [B, 1, 1, n], True = is left out."""
        q = split_heads(self.query(x), self.heads)
        relevance = q @ keys.mT / sqrt(q.shape[-1])
        relevance = relevance if closed is None else relevance.masked_fill(closed, -torch.inf)
        return self.out(join_heads(relevance.softmax(-1) @ values))


class FeedForward(nn.Module):
    """W_2 relu(W_1 x + b_1) + b_2 (Eq. 2)."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.first, self.second = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(relu(self.first(x)))


class EncoderLayer(nn.Module):
    """Self-attention, MTSA or multi-head, then the feed-forward sublayer: [B, n, out] → [B, n, out]."""

    def __init__(self, config: TranslationConfig):
        super().__init__()
        self.attention = FUSIONS[config.mechanism](config.out, config)
        self.feed_forward = FeedForward(config.out, config.feed_forward)
        self.norms = nn.ModuleList(nn.LayerNorm(config.out) for _ in range(2))
        self.dropout = nn.Dropout(1 - config.keep)

    def forward(self, x: Tensor, keep: Tensor, site: Site) -> Tensor:
        x = self.norms[0](x + self.dropout(self.attention(x, keep, site)))
        return self.norms[1](x + self.dropout(self.feed_forward(x))).masked_fill(~keep[..., None], 0.0)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention over the source, then the feed-forward sublayer: [B, m, out] → [B, m, out]."""

    def __init__(self, config: TranslationConfig):
        super().__init__()
        self.attention, self.cross = (Attention(config.out, config.heads, config.attention_keep) for _ in range(2))
        self.feed_forward = FeedForward(config.out, config.feed_forward)
        self.norms = nn.ModuleList(nn.LayerNorm(config.out) for _ in range(3))
        self.dropout = nn.Dropout(1 - config.keep)

    def forward(self, x: Tensor, memory: Tensor, source_keep: Tensor, number: int) -> Tensor:
        earlier = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()[None]
        x = self.norms[0](x + self.dropout(self.attention(x, x, earlier, Site(TARGET, number))))
        x = self.norms[1](x + self.dropout(self.cross(x, memory, source_keep[:, None], Site(CROSS, number))))
        return self.norms[2](x + self.dropout(self.feed_forward(x)))

    def last(self, x: Tensor, past: Past, source: tuple[Tensor, Tensor], closed: Tensor) -> tuple[Tensor, Past]:
        """The last row of `forward`, [B, 1, out], from the last state x [B, 1, out] and the keys and values of those
        before; and those with its own.  source: keys and values of the memory."""
        own = self.attention.keys_values(x)
        now = own if past is None else (torch.cat([past[0], own[0]], 2), torch.cat([past[1], own[1]], 2))
        x = self.norms[0](x + self.attention.attend(x, *now))
        x = self.norms[1](x + self.cross.attend(x, *source, closed))
        return self.norms[2](x + self.feed_forward(x)), now


class TranslationModel(nn.Module):
    """Scores of the next sub-word [B, m, words]; `words`: size of the vocabulary."""

    def __init__(self, config: TranslationConfig, words: int):
        super().__init__()
        self.table = nn.Embedding(words, config.out)
        self.bias = nn.Parameter(torch.zeros(words))
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.dropout = nn.Dropout(1 - config.keep)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        nn.init.normal_(self.table.weight, std=config.out**-0.5)

    def forward(self, source: Sentences, target: Sentences | None = None) -> Tensor:
        """target: the sub-words so far, from the start mark on; row t scores the sub-word after them.  Without it: the
        memory [B, n, out].

        Taps sites under `source/layer.0/…`, `target/layer.0/…` and `cross/layer.0/…`.
        """
        memory = self.encode(source)
        return memory if target is None else self.decode(memory, source.keep, target)

    def encode(self, source: Sentences) -> Tensor:
        """The memory [B, n, out] of a source."""
        x = self._embed(source).masked_fill(~source.keep[..., None], 0.0)
        for i, layer in enumerate(cast(Any, self.encoder)):
            x = layer(x, source.keep, Site(SOURCE, i))
        return x

    def decode(self, memory: Tensor, source_keep: Tensor, target: Sentences) -> Tensor:
        """As `forward`, of a memory."""
        x = self._embed(target)
        for i, layer in enumerate(cast(Any, self.decoder)):
            x = layer(x, memory, source_keep, i)
        return linear(x, self.table.weight, self.bias)

    def last_state(self, ids: Tensor, place: int) -> Tensor:
        """The decoder's input [B, 1, out] for sub-words [B] at a place, from 0, in eval mode."""
        whole = torch.ones(1, place + 1, dtype=torch.bool, device=ids.device)
        x = self.table(ids)[:, None] * sqrt(self.table.embedding_dim)
        return x + sinusoids(token_positions(whole)[:, -1:], x.shape[-1]).to(x.dtype)

    def _embed(self, sentences: Sentences) -> Tensor:
        x = self.table(sentences.ids) * sqrt(self.table.embedding_dim)
        return self.dropout(x + sinusoids(token_positions(sentences.keep), x.shape[-1]).to(x.dtype))
