"""Recurrent context fusion: Bi-LSTM (Graves et al. 2013) and Bi-GRU (Chung et al. 2014)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from triattn_core.attention.sequence import aligned, back


class Recurrent(nn.Module):
    """torch's own LSTM or GRU in both directions, of real tokens only: [B, n, width] → [B, n, out]."""

    def __init__(self, kind: type[nn.RNNBase], width: int, out: int):
        super().__init__()
        self.rnn = kind(width, out // 2, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, keep: Tensor, site: str = "") -> Tensor:
        n = x.shape[1]
        x, _, order = aligned(x, keep)
        lengths = keep.sum(1).clamp(min=1).cpu()  # a row without a token is one of zeros, and masked after
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=n)
        return back(found, order)
