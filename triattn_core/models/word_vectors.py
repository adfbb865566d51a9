"""Word vectors of a frozen encoder: its word-embedding table, or the states of one of its layers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from triattn_core.attention.states import States
from triattn_core.configs.vectors import LAYER, TABLE
from triattn_core.errors import ConfigError
from triattn_core.inference.batch import RoleBatch, TextBatch
from triattn_core.models.encoder import Encoder, EncoderUser, Pretrained, first_layers, pool_cells


@dataclass(frozen=True)
class WordVectors(EncoderUser):
    """Word vectors of texts.  Equal instances give equal vectors, which bundles share.

    source: `embedding`, the context-free embedding table; or `layer:k`, the states after layer k of `[CLS] text [SEP]`.
    A cell is the mean of its tokens.
    standardised: each vector has mean 0 and variance 1, because the table's values are about a twentieth of a layer's;
    not where further layers of the encoder read them.
    """

    encoder: Encoder
    source: str
    standardised: bool = True
    lower: Pretrained | None = field(default=None, compare=False, repr=False)  # the encoder up to the layer

    @property
    def layer(self) -> int:
        """The encoder layer; 0 for the embedding table."""
        return 0 if self.source == TABLE else int(self.source.removeprefix(LAYER))

    def __call__(self, batch: TextBatch) -> tuple[States, ...]:
        """The states of each text of a batch."""
        texts = (pool_cells(States(self._look_up(text), text.keep), text) for text in batch.texts)
        if not self.standardised:
            return tuple(texts)
        return tuple(States(layer_norm(text.vectors, text.vectors.shape[-1:]), text.keep) for text in texts)

    def _look_up(self, text: RoleBatch) -> Tensor:
        if self.lower is None:
            return self.encoder.joint.embeddings.word_embeddings(text.ids)
        real = torch.ones_like(text.alone)
        real[:, 2:] = text.keep.long()  # n real tokens between two special ones
        distinct, place = torch.stack([text.alone, real]).unique(
            dim=1, return_inverse=True
        )  # many questions share a passage
        return self.lower(input_ids=distinct[0], attention_mask=distinct[1]).last_hidden_state[place, 1:-1]


def word_vectors(encoder: Encoder, source: str, tokens: int, standardised: bool = True) -> WordVectors:
    """The vectors of `source`.  Raises ConfigError for a layer that the encoder does not have, or too many tokens."""
    vectors, config = WordVectors(encoder, source, standardised), encoder.joint.config
    if vectors.layer > config.num_hidden_layers:
        raise ConfigError(f"model.vectors {source!r}: the encoder has layers 1 to {config.num_hidden_layers}")
    if vectors.layer and tokens > config.max_position_embeddings - 2:
        raise ConfigError(f"max_tokens {tokens}: the encoder reads at most {config.max_position_embeddings - 2} here")
    if not vectors.layer:
        return vectors
    return replace(vectors, lower=first_layers(encoder.joint, vectors.layer).eval())
