"""Convolutional context fusion: Multi-CNN (Kim 2014) and hierarchical CNN (Gehring et al. 2017).

Padding is zeros, like positions beyond the ends of a text, so that it changes nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import glu, pad, relu

from triattn_core.trace.site import Site

NGRAMS = (3, 4, 5)


class MultiCnn(nn.Module):
    """One convolution for each n-gram length of NGRAMS, with equal shares of the features: → [B, n, out]."""

    def __init__(self, width: int, out: int):
        super().__init__()
        sizes = [out // len(NGRAMS) + (i < out % len(NGRAMS)) for i in range(len(NGRAMS))]
        self.convolutions = nn.ModuleList(nn.Conv1d(width, size, k) for k, size in zip(NGRAMS, sizes))

    def forward(self, x: Tensor, keep: Tensor, site: Site = Site()) -> Tensor:
        x = x.masked_fill(~keep[..., None], 0.0).mT
        features = [
            relu(convolution(pad(x, ((k - 1) // 2, k // 2)))) for k, convolution in zip(NGRAMS, self.convolutions)
        ]
        return torch.cat(features, 1).mT


class HierarchicalCnn(nn.Module):
    """Stacked convolutions of width 5 with gated linear units and residual connections: → [B, n, out].

    All layers have `out` features: 300 in the paper.
    """

    def __init__(self, width: int, out: int, layers: int = 3, kernel: int = 5):
        super().__init__()
        self.first = nn.Linear(width, out)
        self.convolutions = nn.ModuleList(nn.Conv1d(out, 2 * out, kernel, padding=kernel // 2) for _ in range(layers))

    def forward(self, x: Tensor, keep: Tensor, site: Site = Site()) -> Tensor:
        padding, x = ~keep[..., None], self.first(x)
        for convolution in self.convolutions:
            x = x.masked_fill(padding, 0.0)
            x = x + glu(convolution(x.mT).mT, -1)
        return x
