"""Encoder layers that are trained with a model: those after the layer of its word vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import torch
from torch import nn

from triattn_core.attention.states import States
from triattn_core.configs.vectors import FineTuned
from triattn_core.models.encoder import Pretrained


class EncoderLayers(nn.ModuleList):
    """Transformer layers in the form of BERT (Devlin et al. 2019): each `norm(x + attention)`, then `norm(x + feed
    forward)`; a token attends to the tokens of its text."""

    def __init__(self, width: int, settings: FineTuned):
        super().__init__(
            nn.TransformerEncoderLayer(
                width, settings.heads, settings.feed_forward, 0.1, "gelu", layer_norm_eps=1e-12, batch_first=True
            )
            for _ in range(settings.layers)
        )
        for parameter in self.parameters():
            vars(parameter)["rate_share"] = settings.rate

    def forward(self, states: States) -> States:
        """The states [B, n, h] after the layers."""
        x = states.vectors
        for layer in self:
            x = layer(x, src_key_padding_mask=~states.keep)
        return States(x, states.keep)

    @torch.no_grad()
    def copy_from(self, encoder: Pretrained, first: int) -> None:
        """Start from the weights of the encoder's layers after its layer `first`, counted from 1."""
        for ours, theirs in zip(
            cast(Iterable[nn.TransformerEncoderLayer], self), encoder.encoder.layer[first:], strict=True
        ):
            attention = theirs.attention
            projections = (attention.self.query, attention.self.key, attention.self.value)
            ours.self_attn.in_proj_weight.copy_(torch.cat([part.weight for part in projections]))
            ours.self_attn.in_proj_bias.copy_(torch.cat([part.bias for part in projections]))
            parts: tuple[tuple[nn.Module, nn.Module], ...] = (
                (ours.self_attn.out_proj, attention.output.dense),
                (ours.norm1, attention.output.LayerNorm),
                (ours.linear1, theirs.intermediate.dense),
                (ours.linear2, theirs.output.dense),
                (ours.norm2, theirs.output.LayerNorm),
            )
            for target, source in parts:
                target.load_state_dict(source.state_dict())
