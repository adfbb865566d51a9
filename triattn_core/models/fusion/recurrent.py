"""Recurrent context fusion: Bi-LSTM (Graves et al. 2013) and Bi-GRU (Chung et al. 2014)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from triattn_core.attention.sequence import move_padding_last, restore_order
from triattn_core.trace.site import Site


class Recurrent(nn.Module):
    """torch's LSTM or GRU in both directions, over real tokens only: [B, n, width] → [B, n, out]."""

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU], width: int, out: int):
        super().__init__()
        self.rnn = kind(width, out // 2, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, keep: Tensor, site: Site = Site()) -> Tensor:
        n = x.shape[1]
        x, mask, order = move_padding_last(x, keep)
        if isinstance(self.rnn, nn.LSTM) and x.device.type == "cpu":
            return restore_order(self._dense(x, mask), order)
        lengths = keep.sum(1).clamp(min=1).cpu()  # a row without tokens is read as one zero vector, and masked later
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=n)
        return restore_order(outputs, order)

    def _dense(self, x: Tensor, keep: Tensor) -> Tensor:
        """As `forward`, without packing, which is five times as slow on a CPU: each direction separately, padding last.

        The backward direction reads each row from its last real token.
        """
        places, lengths = torch.arange(x.shape[1]), keep.sum(1, keepdim=True)
        reversed_places = torch.where(keep, lengths - 1 - places, places)
        state, directions = x.new_zeros(1, len(x), self.rnn.hidden_size), []
        for x_, suffix in ((x, ""), (_reorder(x, reversed_places), "_reverse")):
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            weights = [getattr(self.rnn, f"{name}_l0{suffix}") for name in names]
            directions.append(torch.lstm(x_, (state, state), weights, True, 1, 0.0, self.training, False, True)[0])
        return torch.cat([directions[0], _reorder(directions[1], reversed_places)], -1) * keep[..., None]


def _reorder(x: Tensor, places: Tensor) -> Tensor:
    return x.gather(1, places[..., None].expand_as(x))
