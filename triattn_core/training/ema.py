"""A moving average of the weights, which is what a reader is asked with (the T-trilinear paper, section 5.2)."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn


class AveragedModel(nn.Module):
    """A model that is trained, and the exponential moving average of its weights, which answers in eval mode."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model, self.average = model, copy.deepcopy(model).requires_grad_(False)

    def forward(self, *given) -> Tensor:
        return (self.model if self.training else self.average)(*given)

    @torch.no_grad()
    def update(self, step: int, decay: float) -> None:
        """`average = d average + (1 - d) weights` with d = min(decay, (1 + step) / (10 + step)), step from 0.

        The bound lets the first weights, which were drawn, go soon; the paper prints the decay, 0.999, and no bound.
        """
        share = 1 - min(decay, (1 + step) / (10 + step))
        for kept, now in zip(self.average.parameters(), self.model.parameters(), strict=True):
            kept.lerp_(now, share)
