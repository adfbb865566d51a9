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
        """States of a batch; `[CLS]` and `[SEP]` are neither query nor key, and are context."""
        context = batch.context
        out = self.joint(
            input_ids=context.ids, token_type_ids=context.types, attention_mask=context.keep.long()
        )
        return Encoded(
            query=States(self._alone(batch.query), batch.query.keep, batch.query.positions),
            key=States(self._alone(batch.key), batch.key.keep, batch.key.positions),
            context=States(out.last_hidden_state, context.keep),
            pooled=out.pooler_output,
        )

    def _alone(self, role: RoleBatch) -> Tensor:
        real = torch.ones_like(role.alone)
        real[:, 2:] = role.keep.long()  # n real tokens between two special ones
        return self.alone(input_ids=role.alone, attention_mask=real).last_hidden_state[:, 1:-1]
