"""Context fusion: blocks that mix context into each token of a text.  To add a block: a file, a line in the table.

A block is built from `(width, settings)` and called with `(x [B, n, width], keep [B, n], site)`; it returns
[B, n, out].
"""

from __future__ import annotations

from torch import nn

from triattn_core.attention.blosa import BiBlosa
from triattn_core.attention.disa import Disa
from triattn_core.attention.mtsa import Mtsa
from triattn_core.attention.multi_head import MultiHead
from triattn_core.configs.fusion import FusionSettings
from triattn_core.models.fusion.activations import ACTIVATIONS
from triattn_core.models.fusion.convolution import HierarchicalCnn, MultiCnn
from triattn_core.models.fusion.recurrent import Recurrent

SAME = ("masks", "scale_t", "scale_s", "include_self", "activation", "token2token", "source2token")


def _mtsa(width: int, settings: FusionSettings) -> nn.Module:
    shared_settings = {name: getattr(settings, name) for name in SAME}
    return Mtsa(width, settings.heads, settings.out // settings.heads, keep=settings.attention_keep, **shared_settings)


FUSIONS = {
    "bi_lstm": lambda width, settings: Recurrent(nn.LSTM, width, settings.out),
    "bi_gru": lambda width, settings: Recurrent(nn.GRU, width, settings.out),
    "multi_cnn": lambda width, settings: MultiCnn(width, settings.out),
    "hierarchical_cnn": lambda width, settings: HierarchicalCnn(width, settings.out),
    "multi_head": lambda width, settings: MultiHead(
        width, settings.heads, settings.out // settings.heads, settings.attention_keep, settings.block_positions
    ),
    "disa": lambda width, settings: Disa(
        width, settings.out, ACTIVATIONS[settings.activation](), settings.attention_keep
    ),
    "bi_blosa": lambda width, settings: BiBlosa(
        width, settings.out, settings.block, ACTIVATIONS[settings.activation](), settings.attention_keep
    ),
    "mtsa": _mtsa,
}

PAPER = {"hierarchical_cnn": {"out": 300}}  # the paper's sizes that differ from the defaults
