"""Laboratory models: small learnt embeddings, one attention of this project, a per-token read-out.

Nothing is pretrained and no token knows another before the attention, so that what one layer can do is what the
attention can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention.bi import BiAttention
from triattn_core.attention.cbi import CBiAttention
from triattn_core.attention.states import States
from triattn_core.attention.tri import TriAttention
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.checkpoint.config_parts import CheckpointConfig, LaboratoryData, LaboratoryTraining
from triattn_core.errors import ConfigError, choices
from triattn_core.inference.batch import Batch, RoleBatch
from triattn_core.literal import one_of
from triattn_core.tasks.laboratory import LABORATORY, LaboratoryTask
from triattn_core.tasks.laboratory.example import MOST
from triattn_core.text.roles import Limits
from triattn_core.trace.site import Site

PLACES = 64  # positions that have an embedding, of tasks whose order matters
MECHANISMS: dict[str, type[BiAttention] | type[TriAttention]] = {
    "bi_joint": BiAttention,
    "cbi": CBiAttention,
    "tri": TriAttention,
}


class LaboratoryConfig(BaseModel):
    """What makes one laboratory model differ from another.

    mechanism: `bi_joint` is two-way attention over the one sequence of query, keys and context; of `cbi` every token
    carries the mean of the context; `tri` reads key and context together.  inputs: words' vectors are learnt, or
    residues come as frozen Fourier features.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Annotated[str, one_of(MECHANISMS)]
    similarity: str = "scaled_dot"
    value: str | None = None
    layers: int = Field(1, ge=1, le=3)
    heads: int = Field(1, ge=1)
    hidden: int = Field(32, ge=2, le=256)
    inputs: Literal["learnt", "fourier"] = "learnt"

    @field_validator("similarity")
    @classmethod
    def _similarity(cls, name: str) -> str:
        if name not in SIMILARITIES:
            raise ValueError(f"unknown {name!r}; {choices(name, SIMILARITIES)}")
        return name

    @model_validator(mode="after")
    def _fits(self) -> LaboratoryConfig:
        if self.layers > 1 and self.mechanism != "bi_joint":
            raise ValueError("layers: only bi_joint is stacked here; of the others one layer is compared")
        if self.hidden % self.heads:
            raise ValueError(f"{self.hidden} features are not divisible by {self.heads} heads")
        return self

    @property
    def about(self) -> dict[str, str | int]:
        """What a trace says of the model that left it."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "layers", "heads")}


class LaboratoryCheckpoint(CheckpointConfig):
    """A small model of a laboratory task, which generates its rows and defines its words."""

    format: Literal[1]
    kind: Literal["laboratory"]
    task: Annotated[str, one_of(LABORATORY)]
    language: Literal["en"] = "en"
    model: LaboratoryConfig
    data: LaboratoryData = LaboratoryData()
    training: LaboratoryTraining
    digest: str | None = None

    @property
    def limits(self) -> Limits:
        """Laboratory rows are read whole."""
        return Limits(MOST)

    @property
    def sets(self) -> tuple[str, ...]:
        """None: rows are generated."""
        return ()

    @model_validator(mode="after")
    def _fits_its_task(self) -> LaboratoryCheckpoint:
        try:
            LABORATORY[self.task].at_size(self.data.size)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        if self.model.inputs == "fourier" and not LABORATORY[self.task].MODULUS:
            raise ValueError(f"inputs: fourier is for tasks on residues, and {self.task} is none")
        return self


@dataclass(frozen=True)
class LaboratoryTokens:
    """What is frozen of a laboratory model: nothing. A batch goes to the model as it is."""

    hidden: int
    digest: str = ""

    def __call__(self, batch: Batch) -> Batch:
        """The batch."""
        return batch


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


class Block(nn.Module):
    """Attention and a token-wise network, each added to what it reads."""

    def __init__(self, config: LaboratoryConfig, distinct: bool):
        super().__init__()
        self.attention = MECHANISMS[config.mechanism](config.hidden, config.heads, config.similarity, config.value)
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
    """Logits [B, outputs] read at the query; sites are `layer.0/a_over_b/…`, of bi_joint `layer.<i>/joint/…`."""

    def __init__(self, config: LaboratoryConfig, task: LaboratoryTask):
        super().__init__()
        self.mechanism = config.mechanism
        self.embed = Embedding(task, config)
        self.layers = nn.ModuleList(Block(config, task.DISTINCT) for _ in range(config.layers))
        self.norm, self.predict = nn.LayerNorm(config.hidden), nn.Linear(config.hidden, task.OUTPUTS)

    def forward(self, batch: Batch) -> Tensor:
        """[B, outputs] of query [B, 1], keys [B, I] and context [B, J]."""
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
