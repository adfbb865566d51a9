"""The two encodings of TAN from one pretrained encoder (Tri-Attention, sections IV-F and VI-B).

BERT_t reads each sequence separately and returns the output of its layer 1; BERT_n reads the joint sequence and returns
its last layer and its pooled vector.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from triattn_core.attention.states import States
from triattn_core.inference.batch import Batch, RoleBatch


@dataclass(frozen=True)
class Encoded:
    """The inputs of TAN: states of query, key and context, and the pooled joint vector [B, h] (None if sequences are
    encoded separately)."""

    query: States
    key: States
    context: States
    pooled: Tensor | None


@dataclass(frozen=True)
class InputOverride:
    """Overrides of BERT's inputs for one role, as analyses need them.

    seen: [B, n] bool, the tokens that it attends to.  words: [B, n, h], word vectors instead of ids.  For query and key
    n includes `[CLS]` and `[SEP]`.  rows: [B], if rows of the batch share inputs: the index of each row's input.
    """

    seen: Tensor | None = None
    words: Tensor | None = None
    rows: Tensor | None = None

    def inputs(self, ids: Tensor, seen: Tensor) -> dict[str, Tensor]:
        """BERT's arguments: `ids` and `seen` unless overridden."""
        words_or_ids = {"input_ids": ids} if self.words is None else {"inputs_embeds": self.words}
        return words_or_ids | {"attention_mask": (seen if self.seen is None else self.seen).long()}


if TYPE_CHECKING:

    class Pretrained(nn.Module):
        """A BERT of `transformers`, by its parts that are read here."""

        config: Any
        device: torch.device
        embeddings: Any
        get_input_embeddings: Any
        encoder: Any
        pooler: nn.Module | None

else:
    Pretrained = nn.Module


def first_layers(joint: Pretrained, layers: int) -> Pretrained:
    """The first layers of a pretrained encoder, with shared weights and without a pooled vector."""
    from transformers import AutoModel

    config = copy.deepcopy(joint.config)
    config.num_hidden_layers = layers
    with torch.device("meta"):  # its tensors are replaced below
        lower = AutoModel.from_config(config)
    lower.embeddings, lower.pooler = joint.embeddings, None
    for i in range(layers):
        lower.encoder.layer[i] = joint.encoder.layer[i]
    return lower.train(joint.training)


class EncoderUser:
    """What reads a frozen encoder: width and digest of its vectors are the encoder's."""

    encoder: Encoder

    @property
    def hidden(self) -> int:
        """Width of a vector."""
        return self.encoder.hidden

    @property
    def digest(self) -> str:
        """Digest of the encoder's tensors."""
        return self.encoder.digest


AS_IT_IS: Mapping[str, InputOverride] = MappingProxyType({})


class Encoder(nn.Module):
    """BERT_t and BERT_n with shared weights."""

    digest: str  # of its tensors

    def __init__(self, joint: Pretrained):
        super().__init__()
        self.alone, self.joint = first_layers(joint, 1), joint

    @property
    def hidden(self) -> int:
        """Width of a state."""
        return self.joint.config.hidden_size

    def forward(self, batch: Batch, overrides: Mapping[str, InputOverride] = AS_IT_IS) -> Encoded:
        """States of a batch (of its cells, for long texts; Tri-Attention, section V-B).

        `[CLS]` and `[SEP]` are context, but neither query nor key.  A token's own context vector is gathered before
        cells are averaged, and averaged over the same cells.  overrides: of BERT's inputs by role.
        """
        context = batch.context
        joint_states, pooled = self._encode_joint(context, overrides.get("context", InputOverride()))
        query, key = (
            pool_cells(
                States(
                    self._encode_alone(role, override),
                    role.keep,
                    own_context(joint_states, context.keep, role.positions),
                ),
                role,
            )
            for role, override in (
                (batch.query, overrides.get("query", InputOverride())),
                (batch.key, overrides.get("key", InputOverride())),
            )
        )
        return Encoded(query, key, pool_cells(States(joint_states, context.keep), context), pooled)

    def _encode_joint(self, context: RoleBatch, override: InputOverride) -> tuple[Tensor, Tensor]:
        """States [B, n, h] of the joint sequence and its pooled vectors [B, h].

        Tokens that are not seen cost nothing: BERT reads only the others, at their positions; their states are zeros.
        """
        if override.seen is None or override.words is not None or self.joint.config.model_type != "bert":
            inputs = override.inputs(context.ids, context.keep)
            unique_rows = slice(None) if override.words is None else slice(len(override.words))
            out = self.joint(**inputs, token_type_ids=context.types[unique_rows])
            rows = slice(None) if override.rows is None else override.rows
            return out.last_hidden_state[rows], out.pooler_output[rows]
        positions = first_real(override.seen)
        seen_mask, ids, types = (tensor.gather(1, positions) for tensor in (override.seen, context.ids, context.types))
        out = self.joint(ids, seen_mask.long(), token_type_ids=types, position_ids=positions)
        states = out.last_hidden_state.new_zeros(*context.ids.shape, self.hidden)
        index = positions[..., None].expand_as(out.last_hidden_state)
        return states.scatter(1, index, out.last_hidden_state * seen_mask[..., None]), out.pooler_output

    def _encode_alone(self, role: RoleBatch, override: InputOverride) -> Tensor:
        real = torch.ones_like(role.alone)
        real[:, 2:] = role.keep.long()  # n real tokens between two special ones
        states = self.alone(**override.inputs(role.alone, real)).last_hidden_state[:, 1:-1]
        return states if override.rows is None else states[override.rows]


def first_real(keep: Tensor) -> Tensor:
    """[B, m] positions of each row's real tokens in order, then of some others; m: most real tokens of a row."""
    return keep.long().argsort(dim=1, descending=True, stable=True)[:, : max(1, int(keep.sum(1).max()))]


def own_context(context: Tensor, keep: Tensor, positions: Tensor) -> Tensor:
    """The context vectors [B, n, h] at `positions` [B, n] of the joint sequence; zeros at padding."""
    vectors = context.gather(1, positions[..., None].expand(-1, -1, context.shape[-1]))
    return torch.where(keep.gather(1, positions)[..., None], vectors, 0.0)


def pool_cells(states: States, role: RoleBatch) -> States:
    """The mean state of each cell; the states unchanged if there are no cells."""
    if role.average is None:
        return states
    average = role.average.to(states.vectors.dtype)
    own_context = None if states.own is None else average @ states.own
    return States(average @ states.vectors, average.any(-1), own_context)
