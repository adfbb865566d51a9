"""Bi-directional block self-attention (Bi-BloSA; Shen et al. 2018c): attention inside blocks, then between blocks.

    h = masked attention within each block of r tokens                  intra-block
    v = source2token pooling of each block                              one vector per block
    o = masked attention over blocks,  e = G * o + (1 - G) * v          inter-block, G a sigmoid of both
    E = e of the block of each token
    u = G * act(W [x; h; E] + b) + (1 - G) * x                          context fusion, G a sigmoid of [x; h; E]

The masked attention is that of DiSA.  The block length is a setting: if it depended on the length of the batch, padding
would change the output.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from triattn_core.attention.disa import DIRECTIONS, Gate, MaskedAttention
from triattn_core.attention.pooling import Source2TokenPooling
from triattn_core.attention.sequence import move_padding_last, restore_order
from triattn_core.trace.site import Site


class BlockAttention(nn.Module):
    """One direction: [B, n, size] → [B, n, size]; real tokens first."""

    def __init__(self, size: int, mask: str, block: int, activation: nn.Module, keep: float = 1.0):
        super().__init__()
        self.block, self.activation = block, activation
        self.within, self.between = (MaskedAttention(size, mask, keep) for _ in range(2))
        self.pool, self.gate = Source2TokenPooling(size, activation), Gate(size)
        self.fuse, self.share = nn.Linear(3 * size, size), nn.Linear(3 * size, size)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """Taps nothing: none of its maps is [query, key] over tokens."""
        (B, n, size), r = x.shape, self.block
        blocks = -(-n // r)
        tokens = pad(x, (0, 0, 0, blocks * r - n)).view(B * blocks, r, size)
        real = pad(keep, (0, blocks * r - n)).view(B * blocks, r)
        h = self.within(tokens, real)
        v = self.pool(h, real, None).view(B, blocks, size)
        e = self.gate(self.between(v, real.any(-1).view(B, blocks)), v)
        h, e = h.reshape(B, -1, size)[:, :n], e.repeat_interleave(r, 1)[:, :n]
        features = torch.cat([x, h, e], -1)
        G = torch.sigmoid(self.share(features))
        return G * self.activation(self.fuse(features)) + (1 - G) * x


class BiBlosa(nn.Module):
    """Both directions, features concatenated: [B, n, width] → [B, n, out]."""

    def __init__(self, width: int, out: int, block: int, activation: nn.Module, keep: float = 1.0):
        super().__init__()
        size = out // 2
        self.hidden = nn.ModuleList(nn.Linear(width, size) for _ in DIRECTIONS)
        self.blocks = nn.ModuleList(BlockAttention(size, name, block, activation, keep) for name in DIRECTIONS)
        self.activation = activation

    def forward(self, x: Tensor, keep: Tensor, site: Site = Site(role="bi_blosa")) -> Tensor:
        x, keep, order = move_padding_last(x, keep)
        directions = [block(self.activation(linear(x)), keep) for linear, block in zip(self.hidden, self.blocks)]
        return restore_order(torch.cat(directions, -1), order)
