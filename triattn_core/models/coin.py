"""COIN (Hu et al. 2021, "Context-aware Interaction Network for Question Matching", section 2): a small network for
pairs of sentences that needs no pretrained encoder."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn.functional import layer_norm, relu

from triattn_core.attention.coin import GateFusion, Interaction, Pair, concatenate
from triattn_core.attention.dropout import Dropout
from triattn_core.configs.coin import CoinConfig
from triattn_core.errors import CheckpointError
from triattn_core.inference.batch import Batch
from triattn_core.models.coin_layers import POOLINGS, Convolution
from triattn_core.models.encoder import Encoder
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.trace.site import Site

TOKENIZER = "tokenizer.json"


@dataclass(frozen=True)
class Sentences:
    """One side of a batch of pairs.

    words: [B, n] word ids, or [B, n, h] frozen vectors.
    keep: [B, n] bool, True = a real token.
    """

    words: Tensor
    keep: Bool[Tensor, "B n"]


@dataclass(frozen=True)
class PairWords:
    """Turns a batch into COIN's inputs: word ids, or vectors of an encoder's table, standardised token by token.

    Equal instances give equal inputs.  hidden: the number of words, or the width of a vector.  digest: of
    `tokenizer.json`, or of the encoder's tensors.
    """

    hidden: int
    digest: str
    encoder: Encoder | None = None

    def __call__(self, batch: Batch) -> tuple[Sentences, Sentences]:
        """Both sentences of each pair; each token is looked up by itself, so the context is not needed."""
        a, b = (Sentences(self.look(side.ids), side.keep) for side in (batch.query, batch.key))
        return a, b

    def look(self, ids: Int[Tensor, "B n"]) -> Tensor:
        """The ids [B, n] unchanged, or their vectors [B, n, hidden]."""
        if self.encoder is None:
            return ids
        return layer_norm(self.encoder.joint.embeddings.word_embeddings(ids), (self.hidden,))


def load_words(folder: Path, expected: str | None = None) -> tuple[PairWords, Tokenizer]:
    """The words of a `tokenizer.json`.  Raises CheckpointError if its digest is not `expected`."""
    file = folder / TOKENIZER
    tokenizer = Tokenizer(file)
    actual = sha256(file.read_bytes()).hexdigest()
    if expected and actual != expected:
        problem = f"digest {actual[:12]}, but {expected[:12]} was recorded"
        raise CheckpointError(f"{file}: {problem}; copy the checkpoint again")
    return PairWords(len(tokenizer), actual), tokenizer


class Coin(nn.Module):
    """Logits of a batch of pairs; `words`: the number of learnt word vectors, or the width of the frozen ones.

    Where the paper leaves a choice: F and each G have one layer; the convolutions have a bias and a relu; dropout
    precedes the encoder, each block, the last layer of a gate fusion, the aggregation, and both layers of the
    prediction; L2 (in training) excludes biases and learnt vectors.

    Raises ConfigError if the number of features is not divisible by the number of heads.
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
        self.pool = POOLINGS[config.pooling](width, config.heads)
        self.hidden, self.predict = nn.Linear(4 * width, config.hidden), nn.Linear(config.hidden, outputs)
        self.dropout = Dropout(config.dropout)
        for parameter in self.parameters():
            nn.init.zeros_(parameter) if parameter.ndim == 1 else nn.init.xavier_uniform_(parameter)
        # Products of features (Eq. 9), block after block, overflow if initial vectors are large.
        nn.init.normal_(self.embed.weight, std=config.initial_std / (words**0.5 if frozen else 1))
        for module in self.modules():
            if isinstance(module, GateFusion):
                nn.init.constant_(module.gate_new.bias, config.gate_bias)
        for number, layer in enumerate(self.layers):
            for parameter in layer.parameters():
                vars(parameter)["rate_share"] = config.block_rate**number
        if not frozen:
            # Most words are in few batches; in all others only L2 would change them.
            vars(self.embed.weight)["no_decay"] = True

    def forward(
        self, sentences: tuple[Sentences, Sentences], ablated: Collection[str] = (), each_block: bool = False
    ) -> Tensor:
        """[B, outputs]; with each_block [layers, B, outputs], as if the model ended after each block.

        ablated: what to ablate in this call: blocks (`layer.0` passes its input on), and `context`, the context term of
        every block.
        """
        a, b = sentences
        embedded = Pair(concatenate(self.embed(a.words), self.embed(b.words)), a.keep, b.keep)
        embedded = encoded = embedded.of(self.dropout(embedded.rows))
        for layer in self.encode:
            encoded = layer(encoded)
        pair = encoded.of(torch.cat([embedded.rows.to(encoded.rows), encoded.rows], -1))  # in autocast's precision
        blocks = []
        for i, layer in enumerate(self.layers):
            site = Site(layer=i)
            if str(site) not in ablated:
                pair = layer(pair, site, ablated)
            blocks.append(pair)
        return torch.stack([self._answer(block) for block in blocks]) if each_block else self._answer(pair)

    def _answer(self, pair: Pair) -> Tensor:
        """Logits [B, outputs] of what a block has made of the pair."""
        if self.aggregate is not None:
            pair = self.aggregate(pair.of(self.dropout(pair.rows)))
        left, right = self.pool(pair)
        features = torch.cat([left, right, left - right, left * right], -1)  # Eq. 16
        return self.predict(self.dropout(relu(self.hidden(self.dropout(features)))))
