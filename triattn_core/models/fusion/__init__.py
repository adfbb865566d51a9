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
from triattn_core.models.fusion.convolution import HierarchicalCnn, MultiCnn
from triattn_core.models.fusion.recurrent import Recurrent
from triattn_core.models.fusion.settings import ACTIVATIONS, FusionSettings

SAME = ("masks", "scale_t", "scale_s", "include_self", "activation", "token2token", "source2token")


def _mtsa(width: int, how: FusionSettings) -> nn.Module:
    same = {name: getattr(how, name) for name in SAME}
    return Mtsa(width, how.heads, how.out // how.heads, keep=how.attention_keep, **same)


FUSIONS = {
    "bi_lstm": lambda width, how: Recurrent(nn.LSTM, width, how.out),
    "bi_gru": lambda width, how: Recurrent(nn.GRU, width, how.out),
    "multi_cnn": lambda width, how: MultiCnn(width, how.out),
    "hierarchical_cnn": lambda width, how: HierarchicalCnn(width, how.out),
    "multi_head": lambda width, how: MultiHead(width, how.heads, how.out // how.heads, how.attention_keep),
    "disa": lambda width, how: Disa(width, how.out, ACTIVATIONS[how.activation](), how.attention_keep),
    "bi_blosa": lambda width, how: BiBlosa(
        width, how.out, how.block, ACTIVATIONS[how.activation](), how.attention_keep
    ),
    "mtsa": _mtsa,
}

PAPER = {"hierarchical_cnn": {"out": 300}}  # the paper's sizes that differ from the defaults

# Table 3 of the paper: ablations of MTSA, as settings.
ABLATIONS = {
    "without masks": {"masks": ("none",)},
    "without token2token": {"token2token": False},
    "without source2token": {"source2token": False},
    "without all": {"masks": ("none",), "token2token": False, "source2token": False},
}
