"""COIN (Hu et al. 2021, "Context-aware Interaction Network for Question Matching", section 2): a small network for
pairs of sentences that needs no pretrained encoder."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn.functional import layer_norm, linear, relu

from triattn_core.attention.coin import FUSIONS, Interaction, Pair, together
from triattn_core.attention.dropout import Dropout
from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.tap import tap
from triattn_core.batch import Batch
from triattn_core.errors import CheckpointError, ConfigError
from triattn_core.models.encoder import Encoder
from triattn_core.text.tokenizer import Tokenizer

KERNEL = 3
VECTOR = 0.1  # a feature of a word's vector begins this large
TOKENIZER = "tokenizer.json"


class CoinConfig(BaseModel):
    """What makes one COIN differ from another; the paper leaves the number of heads open.

    embedding: features of a token.  hidden: of every feed-forward network and convolution.  layers: interaction blocks.
    The ablations of Table 3: context False ("w/o context"), fusion simple, aggregation False, pooling max.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Literal["coin"] = "coin"
    embedding: int = Field(200, ge=1)
    hidden: int = Field(200, ge=1)
    layers: int = Field(2, ge=1, le=12)
    heads: int = Field(5, ge=1)
    dropout: float = Field(0.2, ge=0, lt=1)
    context: bool = True
    fusion: Literal[tuple(FUSIONS)] = "gate"
    aggregation: bool = True
    pooling: Literal["heads", "max"] = "heads"

    @property
    def about(self) -> dict[str, str | int]:
        """What a trace says of the model that left it."""
        return {name: getattr(self, name) for name in ("mechanism", "layers", "heads")}


@dataclass(frozen=True)
class Sentences:
    """One side of a batch of pairs.

    words: [B, n] numbers of words that the model has vectors of, or [B, n, h] frozen vectors.
    keep: [B, n] bool, True = a real token.
    """

    words: Tensor
    keep: Bool[Tensor, "B n"]


@dataclass(frozen=True)
class PairWords:
    """What COIN is given of a batch: numbers of words, or vectors of an encoder's table, standardised token by token.

    Two are equal where they give the same.  hidden: how many words there are, or the width of a vector.  digest: of
    `tokenizer.json`, or of the encoder's tensors.
    """

    hidden: int
    digest: str
    encoder: Encoder | None = None

    def __call__(self, batch: Batch) -> tuple[Sentences, Sentences]:
        """Both sentences of each pair; a token is read by itself, so that the context is not needed."""
        a, b = (Sentences(self.look(side.ids), side.keep) for side in (batch.query, batch.key))
        return a, b

    def look(self, ids: Int[Tensor, "B n"]) -> Tensor:
        """[B, n] as they are, or [B, n, hidden]."""
        if self.encoder is None:
            return ids
        return layer_norm(self.encoder.joint.embeddings.word_embeddings(ids), (self.hidden,))


def own_words(folder: Path, expected: str | None = None) -> tuple[PairWords, Tokenizer]:
    """The words of a `tokenizer.json`.  Raises CheckpointError where it is not the file of the digest `expected`."""
    file = folder / TOKENIZER
    tokenizer = Tokenizer(file)
    found = sha256(file.read_bytes()).hexdigest()
    if expected and found != expected:
        told = f"digest {found[:12]}, but {expected[:12]} was recorded"
        raise CheckpointError(f"{file}: {told}; copy the checkpoint anew")
    return PairWords(len(tokenizer), found), tokenizer


class Convolution(nn.Module):
    """relu of a convolution of kernel 3 over each sentence, zeros beyond its ends and where padding stands."""

    def __init__(self, width: int, out: int):
        super().__init__()
        self.convolution = nn.Conv1d(width, out, KERNEL)

    def forward(self, pair: Pair) -> Pair:
        """[rows, out]: one matrix product over the windows of all sentences."""
        windows = [windows_of(x, keep) for x, keep in zip(pair.apart, (pair.a, pair.b))]
        weight = self.convolution.weight.mT.flatten(1)  # [out, kernel * width], as the windows are laid out
        return pair.of(relu(linear(together(*windows), weight, self.convolution.bias)))


def windows_of(x: Float[Tensor, "B n h"], keep: Bool[Tensor, "B n"]) -> Float[Tensor, "B n 3*h"]:
    """Each token's neighbour before it, itself, the one after it."""
    padded = nn.functional.pad(x.masked_fill(~keep[..., None], 0.0), (0, 0, 1, 1))
    return torch.cat([padded[:, i : i + x.shape[1]] for i in range(KERNEL)], -1)


class HeadPooling(nn.Module):
    """Multi-head attention pooling (Eqs. 13 to 15; Liu and Lapata 2019): each head its own weights and values."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        if width % heads:
            raise ConfigError(f"{heads} heads do not share {width} features evenly: change heads")
        self.score, self.value = nn.Linear(width, heads, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, pair: Pair) -> tuple[Tensor, Tensor]:
        """A vector [B, width] of each side.  Taps `pool/a_over_a/weight` [head, key] and that of b."""
        scores, values, found = pair.of(self.score(pair.rows)).apart, pair.of(self.value(pair.rows)).apart, []
        for name, score, value, keep in zip("ab", scores, values, (pair.a, pair.b)):
            weights = kept_softmax(score.mT, keep[:, None])
            tap(f"pool/{name}_over_{name}/weight", weights, ("head", "key"), "weight", ("key",))
            by_head = value.unflatten(-1, (weights.shape[1], -1)).transpose(1, 2)
            found.append((weights[:, :, None] @ by_head).flatten(1))
        return found[0], found[1]


class MaxPooling(nn.Module):
    """The ablation "simple pool": the largest value of each feature; zeros where no token is real."""

    def forward(self, pair: Pair) -> tuple[Tensor, Tensor]:
        """A vector [B, width] of each side."""
        a, b = (largest(x, keep) for x, keep in zip(pair.apart, (pair.a, pair.b)))
        return a, b


def largest(x: Float[Tensor, "B n h"], keep: Bool[Tensor, "B n"]) -> Float[Tensor, "B h"]:
    """Over the real tokens."""
    found = x.masked_fill(~keep[..., None], torch.finfo(x.dtype).min).amax(1)
    return found.masked_fill(~keep.any(1, keepdim=True), 0.0)


class Coin(nn.Module):
    """Logits of a batch of pairs; `words`: how many it learns vectors of, or the width of the frozen ones it is given.

    What the paper leaves open is chosen so: F and each G have one layer; the convolutions have a bias and a relu;
    dropout stands before the encoder, each block, the last layer of a gate fusion, the aggregation, and both layers of
    the prediction; L2 (in training) leaves out biases and learnt vectors.

    Raises ConfigError where the heads do not share the features evenly.
    """

    def __init__(self, config: CoinConfig, words: int, outputs: int = 2, frozen: bool = False):
        super().__init__()
        width = config.embedding + config.hidden
        self.embed = nn.Linear(words, config.embedding) if frozen else nn.Embedding(words, config.embedding)
        self.encode = nn.ModuleList(Convolution(n, config.hidden) for n in (config.embedding, config.hidden))
        self.layers = nn.ModuleList(
            Interaction(width, config.hidden, config.dropout, config.context, config.fusion)
            for _ in range(config.layers)
        )
        self.aggregate = Convolution(width, config.hidden) if config.aggregation else None
        width = config.hidden if config.aggregation else width
        self.pool = HeadPooling(width, config.heads) if config.pooling == "heads" else MaxPooling()
        self.hidden, self.predict = nn.Linear(4 * width, config.hidden), nn.Linear(config.hidden, outputs)
        self.dropout = Dropout(config.dropout)
        for one in self.parameters():
            nn.init.zeros_(one) if one.ndim == 1 else nn.init.xavier_uniform_(one)
        # Products of features (Eq. 9) in block after block overflow where vectors begin large.
        nn.init.normal_(self.embed.weight, std=VECTOR / (words**0.5 if frozen else 1))
        if not frozen:
            self.embed.weight.no_decay = True  # most words are in few batches: in the others L2 alone would move them

    def forward(self, sentences: tuple[Sentences, Sentences], off: Collection[str] = ()) -> Tensor:
        """[B, outputs].  off: blocks to leave out of this call (`layer.0`: it hands on what it was given), and
        `context`, the context term of every block.
        """
        a, b = sentences
        embedded = Pair(together(self.embed(a.words), self.embed(b.words)), a.keep, b.keep)
        embedded = inner = embedded.of(self.dropout(embedded.rows))
        for layer in self.encode:
            inner = layer(inner)
        pair = inner.of(torch.cat([embedded.rows.to(inner.rows), inner.rows], -1))  # in autocast's precision
        for i, layer in enumerate(self.layers):
            if f"layer.{i}" not in off:
                pair = layer(pair, f"layer.{i}", off)
        if self.aggregate is not None:
            pair = self.aggregate(pair.of(self.dropout(pair.rows)))
        left, right = self.pool(pair)
        joined = torch.cat([left, right, left - right, left * right], -1)  # Eq. 16
        return self.predict(self.dropout(relu(self.hidden(self.dropout(joined)))))
