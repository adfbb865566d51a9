"""Exponential moving average of the weights, with which a reader predicts (the T-trilinear paper, section 5.2)."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn


class AveragedModel(nn.Module):
    """A model in training, and the exponential moving average of its weights, which is used in eval mode."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model, self.average = model, copy.deepcopy(model).requires_grad_(False)

    def forward(self, *inputs) -> Tensor:
        return (self.model if self.training else self.average)(*inputs)

    @torch.no_grad()
    def update(self, step: int, decay: float) -> None:
        """`average = d average + (1 - d) weights` with d = min(decay, (1 + step) / (10 + step)), step from 0.

        The bound lets the random initial weights fade quickly; the paper gives the decay, 0.999, and no bound.
        """
        share = 1 - min(decay, (1 + step) / (10 + step))
        for average, weights in zip(self.average.parameters(), self.model.parameters(), strict=True):
            average.lerp_(weights, share)
