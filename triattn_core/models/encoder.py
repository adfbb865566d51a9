"""The two encodings of TAN from one pretrained encoder (Tri-Attention, sections IV-F and VI-B).

BERT_t reads each sequence alone and gives the output of its layer 1; BERT_n reads the joint sequence and gives its
last layer and its pooled vector.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel

from triattn_core.attention.states import States
from triattn_core.batch import Batch, RoleBatch


@dataclass(frozen=True)
class Encoded:
    """What the encoder hands to TAN: states of query, key and context, and the pooled joint vector [B, h]."""

    query: States
    key: States
    context: States
    pooled: Tensor


class Encoder(nn.Module):
    """BERT_t and BERT_n with shared weights."""

    def __init__(self, joint: PreTrainedModel):
        super().__init__()
        config = copy.deepcopy(joint.config)
        config.num_hidden_layers = 1
        alone = AutoModel.from_config(config).float()
        alone.embeddings = joint.embeddings
        alone.encoder.layer[0] = joint.encoder.layer[0]
        alone.pooler = None
        self.alone, self.joint = alone, joint

    @property
    def hidden(self) -> int:
        """Width of a state."""
        return self.joint.config.hidden_size

    def forward(self, batch: Batch) -> Encoded:
        """States of a batch, of its cells where texts are filtered (Tri-Attention, section V-B).

        `[CLS]` and `[SEP]` are neither query nor key, and are context.  A token's own context vector is gathered before
        anything is averaged, and averaged in the same cells.
        """
        context = batch.context
        out = self.joint(
            input_ids=context.ids, token_type_ids=context.types, attention_mask=context.keep.long()
        )
        joined = out.last_hidden_state
        query, key = (
            filtered(States(self._alone(role), role.keep, own_context(joined, context.keep, role.positions)), role)
            for role in (batch.query, batch.key)
        )
        return Encoded(query, key, filtered(States(joined, context.keep), context), out.pooler_output)

    def _alone(self, role: RoleBatch) -> Tensor:
        real = torch.ones_like(role.alone)
        real[:, 2:] = role.keep.long()  # n real tokens between two special ones
        return self.alone(input_ids=role.alone, attention_mask=real).last_hidden_state[:, 1:-1]


def own_context(context: Tensor, keep: Tensor, positions: Tensor) -> Tensor:
    """The context vectors [B, n, h] at `positions` [B, n] of the joint sequence; zeros where none is real."""
    found = context.gather(1, positions[..., None].expand(-1, -1, context.shape[-1]))
    return torch.where(keep.gather(1, positions)[..., None], found, 0.0)


def filtered(states: States, role: RoleBatch) -> States:
    """The means of the cells; the tokens themselves where there are no cells."""
    if role.average is None:
        return states
    average = role.average.to(states.vectors.dtype)
    own = None if states.own is None else average @ states.own
    return States(average @ states.vectors, average.any(-1), own)
