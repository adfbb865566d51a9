"""Laboratory models: small learnt embeddings, one attention of this project, a per-token read-out.

Nothing is pretrained and no token knows another before the attention, so that what one layer can do is what the
attention can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention.bi import BiAttention
from triattn_core.attention.cbi import CBiAttention
from triattn_core.attention.states import States
from triattn_core.attention.tri import TriAttention
from triattn_core.configs.laboratory import LaboratoryConfig
from triattn_core.inference.batch import Batch, RoleBatch
from triattn_core.models.laboratory_triangle import TriangleBlock
from triattn_core.tasks.laboratory import LaboratoryTask
from triattn_core.trace.site import Site

PLACES = 64  # positions that have an embedding, of tasks whose order matters
BLOCKS: dict[str, type[BiAttention] | type[TriAttention]] = {
    "bi_joint": BiAttention,
    "cbi": CBiAttention,
    "tri": TriAttention,
}


class Embedding(nn.Module):
    """The vectors [B, n, hidden] of tokens: the sum over their words and, where order matters, their position."""

    def __init__(self, task: LaboratoryTask, config: LaboratoryConfig):
        super().__init__()
        self.table: Tensor
        self.features: Tensor
        vocabulary, self.fourier = task.vocabulary, config.inputs == "fourier"
        numbers = {word: i for i, word in enumerate(vocabulary.word_list, 1)}
        longest = max(map(len, vocabulary.words))
        rows = [[*(numbers[word] for word in words), *[0] * (longest - len(words))] for words in vocabulary.words]
        self.register_buffer("table", torch.tensor(rows), persistent=False)
        if self.fourier:
            features = residue_features(vocabulary.word_list, task.MODULUS)
            self.register_buffer("features", features, persistent=False)
            self.project = nn.Linear(features.shape[1], config.hidden)
        else:
            self.words = nn.Embedding(len(numbers) + 1, config.hidden, padding_idx=0)
        self.places = nn.Embedding(PLACES, config.hidden) if task.ORDERED else None

    def forward(self, role: RoleBatch) -> States:
        """The states of one role of a batch."""
        words = self.table[role.ids]
        if self.fourier:
            vectors = self.project(self.features[words].sum(-2))
        else:
            vectors = self.words(words).sum(-2)
        if self.places is not None:
            vectors = vectors + self.places(role.positions)
        return States(vectors, role.keep)


def residue_features(words: Sequence[str], modulus: int) -> Tensor:
    """[1 + words, modulus - 1 + others]: cos and sin of 2πxk / modulus for each residue x, one feature for each other
    word; zeros for padding."""
    other_words = [word for word in words if not word.isdigit()]
    angles = 2 * torch.pi * torch.arange(1, (modulus + 1) // 2) / modulus
    features = torch.zeros(1 + len(words), 2 * len(angles) + len(other_words))
    for i, word in enumerate(words, 1):
        if word.isdigit():
            features[i, : 2 * len(angles)] = torch.cat([(int(word) * angles).cos(), (int(word) * angles).sin()])
        else:
            features[i, 2 * len(angles) + other_words.index(word)] = 1
    return features


@runtime_checkable
class BlockSettings(Protocol):
    """What a block needs of the settings of a model."""

    @property
    def mechanism(self) -> str:
        """A name of BLOCKS."""

    @property
    def similarity(self) -> str:
        """A name of SIMILARITIES."""

    @property
    def value(self) -> str | None:
        """A contextual value; None for the similarity's own."""

    @property
    def heads(self) -> int:
        """The number of heads."""

    @property
    def hidden(self) -> int:
        """The number of features."""


class Block(nn.Module):
    """Attention and a token-wise network, each added to what it reads."""

    def __init__(self, config: BlockSettings, distinct: bool):
        super().__init__()
        self.attention = BLOCKS[config.mechanism](config.hidden, config.heads, config.similarity, config.value)
        if isinstance(self.attention, TriAttention):  # two-way attention has no cell for a pair
            self.attention.distinct = distinct
        self.norm = nn.LayerNorm(config.hidden)
        self.widen = nn.Linear(config.hidden, 2 * config.hidden)
        self.narrow = nn.Linear(2 * config.hidden, config.hidden)

    def forward(self, query: States, key: States, context: States, site: Site) -> States:
        """New states of the queries; taps `<site>/relevance` and `<site>/weight`."""
        vectors = query.vectors + self.attention(query, key, context, site)
        vectors = vectors + self.narrow(gelu(self.widen(self.norm(vectors))))
        return States(vectors, query.keep)


class LaboratoryModel(nn.Module):
    """Logits [B, outputs] read at the query; sites are `layer.0/a_over_b/…`, of bi_joint `layer.<i>/joint/…`, of
    triangle `layer.0/triangle/…` too."""

    def __init__(self, config: LaboratoryConfig, task: LaboratoryTask):
        super().__init__()
        self.mechanism = config.mechanism
        self.embed = Embedding(task, config)
        self.layers = nn.ModuleList(
            TriangleBlock(task, config.hidden, config.heads)
            if config.mechanism == "triangle"
            else Block(config, task.DISTINCT)
            for _ in range(config.layers)
        )
        self.norm, self.predict = nn.LayerNorm(config.hidden), nn.Linear(config.hidden, task.OUTPUTS)

    def forward(self, batch: Batch) -> Tensor:
        """[B, outputs] of query [B, 1], keys [B, I] and context [B, J]."""
        if self.mechanism == "triangle":
            query, tokens = self.embed(batch.query), self.embed(batch.key)
            return self.predict(self.norm(self.layers[0](batch.query, batch.key, query.vectors, tokens.vectors)))
        return self.read_out(*(self.embed(role) for role in (batch.query, batch.key, batch.context)))

    def read_out(self, query: States, key: States, context: States) -> Tensor:
        """[B, outputs] of embedded tokens."""
        if self.mechanism == "bi_joint":
            states = joint(query, key, context)
            for i, layer in enumerate(self.layers):
                states = layer(states, states, context, Site(layer=i, role="joint"))
        else:
            if self.mechanism == "cbi":
                query, key = with_mean(query, context), with_mean(key, context)
            states = self.layers[0](query, key, context, Site(layer=0, role="a_over_b"))
        return self.predict(self.norm(states.vectors[:, 0]))


def joint(*parts: States) -> States:
    """One sequence of all parts, in their order."""
    return States(torch.cat([part.vectors for part in parts], 1), torch.cat([part.keep for part in parts], 1))


def with_mean(states: States, context: States) -> States:
    """The states with the mean of the real context tokens as the context vector of each."""
    keep = context.keep[..., None]
    mean = (context.vectors * keep).sum(1, keepdim=True) / keep.sum(1, keepdim=True).clamp(min=1)
    return States(states.vectors, states.keep, mean.expand_as(states.vectors))
