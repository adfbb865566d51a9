"""Recurrent context fusion: Bi-LSTM (Graves et al. 2013) and Bi-GRU (Chung et al. 2014)."""

from __future__ import annotations

import torch
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
        x, kept, order = aligned(x, keep)
        if isinstance(self.rnn, nn.LSTM) and x.device.type == "cpu":
            return back(self._dense(x, kept), order)
        lengths = keep.sum(1).clamp(min=1).cpu()  # a row without a token is one of zeros, and masked after
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=n)
        return back(found, order)

    def _dense(self, x: Tensor, keep: Tensor) -> Tensor:
        """The same without packing, which costs a CPU five times the time: each direction on its own, padding last.

        The backward direction reads each row from its last real token.
        """
        places, lengths = torch.arange(x.shape[1]), keep.sum(1, keepdim=True)
        turned = torch.where(keep, lengths - 1 - places, places)
        state, found = x.new_zeros(1, len(x), self.rnn.hidden_size), []
        for x_, ending in ((x, ""), (_taken(x, turned), "_reverse")):
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            weights = [getattr(self.rnn, f"{name}_l0{ending}") for name in names]
            found.append(torch.lstm(x_, (state, state), weights, True, 1, 0.0, self.training, False, True)[0])
        return torch.cat([found[0], _taken(found[1], turned)], -1) * keep[..., None]


def _taken(x: Tensor, places: Tensor) -> Tensor:
    return x.gather(1, places[..., None].expand_as(x))
