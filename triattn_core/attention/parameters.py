"""Initialisation of the parameters of relevances and contextual values, and the base of relevances without any."""

from __future__ import annotations

import torch
from torch import nn


def matrix(*shape: int) -> nn.Parameter:
    """Matrices `[..., out, in]`, Glorot-uniform over the last two axes (Glorot and Bengio 2010)."""
    bound = (6 / (shape[-1] + shape[-2])) ** 0.5
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


def vector(*shape: int) -> nn.Parameter:
    """Vectors `[..., features]`, uniform within four over the root of the length.

    Initial relevances then have a standard deviation of about one; with less, the softmax starts uniform and attention
    learns very slowly.
    """
    bound = 4 * shape[-1] ** -0.5
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


class Parameterless(nn.Module):
    """A relevance without parameters of its own: the mechanism has the projections."""

    def __init__(self, heads: int, features: int, context: bool):
        super().__init__()
