"""Models of *which two numbers make this one?*: the attention itself is the answer.

Query is the number made, keys and context are the numbers of the problem; the weights of the heads, averaged, are the
probabilities of the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, cast

import torch
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention.softmax import joint_softmax, masked_softmax
from triattn_core.attention.states import split_heads
from triattn_core.attention.tap import tap
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.attention.tri_similarity.protocol import Similarity
from triattn_core.checkpoint.config_parts import CheckpointConfig, Strict, Training
from triattn_core.errors import choices
from triattn_core.inference.number_batch import NumberBatch, pair_logits
from triattn_core.literal import one_of
from triattn_core.models.number_vectors import FEATURES, Numbers
from triattn_core.tasks.operands.gsm8k import MOST
from triattn_core.text.roles import Limits
from triattn_core.trace.site import Site

MECHANISMS = ("tri", "bi", "cbi")


class OperandsConfig(BaseModel):
    """What makes one model of operands differ from another.

    mechanism: `tri` scores both operands together with the number; `bi` has one softmax for each operand, and a pair's
    weight is their product; of `cbi` every token carries the mean of the numbers besides.  before: layers of two-way
    self-attention over the number made and all numbers, before.  inputs: what is known of a number.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mechanism: Annotated[str, one_of(MECHANISMS)]
    similarity: str = "scaled_dot"
    before: int = Field(0, ge=0, le=3)
    heads: int = Field(1, ge=1)
    hidden: int = Field(128, ge=4, le=512)
    inputs: Literal["values", "words", "both"] = "both"

    @field_validator("similarity")
    @classmethod
    def _similarity(cls, name: str) -> str:
        if name not in SIMILARITIES:
            raise ValueError(f"unknown {name!r}; {choices(name, SIMILARITIES)}")
        return name

    @model_validator(mode="after")
    def _fits(self) -> OperandsConfig:
        if self.hidden % self.heads:
            raise ValueError(f"{self.hidden} features are not divisible by {self.heads} heads")
        return self

    @property
    def about(self) -> dict[str, str | int]:
        """What a trace says of the model that left it."""
        return {name: getattr(self, name) for name in ("mechanism", "similarity", "before", "heads", "inputs")}


class OperandsData(Strict):
    """train: one set, of which `dev_problems` problems, drawn from `split_seed`, are dev: all steps of each."""

    train: tuple[str, ...] = Field(min_length=1, max_length=1)
    dev: None = None
    test: str | None = None
    dev_problems: int = Field(600, ge=1)
    split_seed: int = Field(0, ge=0)


class OperandsTraining(Training):
    """AdamW with a short warm-up and a linear decay; the last weights are kept.

    redrawn: the share of the rows of a batch that get new numbers, see `training.operands.redraw`.  told: what the loss
    knows: the annotated pair; or which pairs make the number by arithmetic, as a calculator would say, and no more.
    """

    rate: float = Field(3e-3, gt=0, lt=1)
    batch: int = Field(128, ge=1)
    redrawn: float = Field(0.5, ge=0, le=1)
    told: Literal["pair", "arithmetic"] = "pair"


class OperandsCheckpoint(CheckpointConfig):
    """A model of *which two numbers make this one?*."""

    format: Literal[1]
    kind: Literal["operands"]
    task: Literal["operands"] = "operands"
    language: Literal["en"] = "en"
    model: OperandsConfig
    data: OperandsData
    training: OperandsTraining
    digest: str | None = None

    @property
    def limits(self) -> Limits:
        """Problems are read whole."""
        return Limits(MOST)


@dataclass(frozen=True)
class NumberTokens:
    """What is frozen of a model of operands: nothing.  A batch goes to the model as it is."""

    hidden: int = FEATURES
    digest: str = ""

    def __call__(self, batch: NumberBatch) -> NumberBatch:
        """The batch."""
        return batch


class SelfAttention(nn.Module):
    """Two-way self-attention and a token-wise network, each added to what it reads; taps `<site>/weight`."""

    def __init__(self, config: OperandsConfig):
        super().__init__()
        hidden, self.heads = config.hidden, config.heads
        self.norm, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.project, self.join = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.widen, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)

    def forward(self, states: Tensor, keep: Tensor) -> Tensor:
        """[B, n, hidden], real where `keep` [B, n] → the same."""
        q, k, v = (split_heads(part, self.heads) for part in self.project(self.norm(states)).chunk(3, -1))
        weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, keep[:, None])
        states = states + self.join((weights @ v).transpose(1, 2).flatten(-2))
        return states + self.narrow(gelu(self.widen(self.norm2(states))))


class OperandsModel(nn.Module):
    """Log-probabilities [B, pairs] of the pairs of `tasks.operands`; taps the weights that they are.

    Of `tri`, `layer.<before>/a_over_b/…` is a cube; of the others the first and the second operand have a map each,
    `layer.<before>/a_over_b/…` and `layer.<before>/a_over_c/…`.
    """

    similarity: Similarity

    def __init__(self, config: OperandsConfig):
        super().__init__()
        hidden, self.config = config.hidden, config
        self.numbers = Numbers(config.hidden, config.inputs)
        self.before = nn.ModuleList(SelfAttention(config) for _ in range(config.before))
        self.query, self.key, self.context = (nn.Linear(hidden, hidden) for _ in range(3))
        if config.mechanism != "tri":
            self.query2 = nn.Linear(hidden, hidden)
        three = config.mechanism == "tri"
        built = SIMILARITIES[config.similarity](config.heads, hidden // config.heads, context=three)
        self.similarity = cast(Similarity, built)

    def forward(self, batch: NumberBatch) -> Tensor:
        """Log-probabilities [B, pairs]."""
        return pair_logits(self.cells(batch))

    def cells(self, batch: NumberBatch) -> Tensor:
        """The probability of each ordered pair [B, n, n], zero on the diagonal; both orders of a pair count."""
        made, numbers = self.numbers(batch)
        if self.before:
            states = torch.cat([made, numbers], 1)
            keep = torch.cat([torch.ones_like(batch.keep[:, :1]), batch.keep], 1)
            for layer in self.before:
                states = layer(states, keep)
            made, numbers = states[:, :1], states[:, 1:]
        if self.config.mechanism == "cbi":
            real = batch.keep[..., None]
            mean = (numbers * real).sum(1, keepdim=True) / real.sum(1, keepdim=True)
            made, numbers = made + mean, numbers + mean
        heads, place = self.config.heads, Site(layer=self.config.before)
        q, k, c = (
            split_heads(project(states), heads)
            for project, states in ((self.query, made), (self.key, numbers), (self.context, numbers))
        )
        if self.config.mechanism == "tri":
            relevance = self.similarity.three(q, k, c)
            weights = joint_softmax(relevance, batch.keep[:, None], batch.keep[:, None], distinct=True)
            tap(place / "a_over_b", relevance, ("head", "query", "key", "context"), "relevance")
            tap(place / "a_over_b", weights, ("head", "query", "key", "context"), "weight", ("key", "context"))
            return weights.mean(1)[:, 0]
        maps = []
        q2 = split_heads(self.query2(made), heads)
        for role, queries, keys in (("a_over_b", q, k), ("a_over_c", q2, c)):
            relevance = self.similarity.two(queries, keys)
            weights = masked_softmax(relevance, batch.keep[:, None])
            tap(place / role, relevance, ("head", "query", "key"), "relevance")
            tap(place / role, weights, ("head", "query", "key"), "weight", ("key",))
            maps.append(weights[:, :, 0])
        return products_of(*maps)


def products_of(first: Tensor, second: Tensor) -> Tensor:
    """Two distributions a head [B, heads, n] → the pairs of two different positions [B, n, n].

    A head's pair has the product of its two weights, over what pairs of different positions have together; heads are
    averaged after, so that several heads may hold several pairs.
    """
    cells = first[..., :, None] * second[..., None, :]
    cells = cells * ~torch.eye(cells.shape[-1], dtype=torch.bool, device=cells.device)
    return (cells / cells.sum((-2, -1), keepdim=True).clamp(min=1e-9)).mean(1)
