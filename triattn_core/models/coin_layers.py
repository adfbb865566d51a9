"""COIN's layers other than its interaction blocks: convolutions, and pooling of a sentence to one vector."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from triattn_core.attention.coin import Pair, concatenate
from triattn_core.attention.softmax import kept_softmax
from triattn_core.attention.tap import tap
from triattn_core.errors import ConfigError
from triattn_core.trace.site import Site

KERNEL = 3


class Convolution(nn.Module):
    """relu of a convolution of kernel 3 over each sentence, with zeros beyond its ends and at padding."""

    def __init__(self, width: int, out: int):
        super().__init__()
        self.convolution = nn.Conv1d(width, out, KERNEL)

    def forward(self, pair: Pair) -> Pair:
        """[rows, out]: one matrix product over the windows of all sentences."""
        windows = [windows_of(x, keep) for x, keep in zip(pair.split, (pair.a, pair.b))]
        weight = self.convolution.weight.mT.flatten(1)  # [out, kernel * width], as the windows are laid out
        return pair.of(relu(linear(concatenate(*windows), weight, self.convolution.bias)))


def windows_of(x: Float[Tensor, "B n h"], keep: Bool[Tensor, "B n"]) -> Float[Tensor, "B n 3*h"]:
    """Concatenate each token with its neighbours: the one before, itself, the one after."""
    padded = nn.functional.pad(x.masked_fill(~keep[..., None], 0.0), (0, 0, 1, 1))
    return torch.cat([padded[:, i : i + x.shape[1]] for i in range(KERNEL)], -1)


class HeadPooling(nn.Module):
    """Multi-head attention pooling (Eqs. 13 to 15; Liu and Lapata 2019): each head its own weights and values."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        if width % heads:
            raise ConfigError(f"{width} features are not divisible by {heads} heads: change heads")
        self.score, self.value = nn.Linear(width, heads, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, pair: Pair) -> tuple[Tensor, Tensor]:
        """A vector [B, width] of each side.  Taps `pool/a_over_a/weight` [head, key], and the same for b."""
        scores, values, pooled = pair.of(self.score(pair.rows)).split, pair.of(self.value(pair.rows)).split, []
        for name, score, value, keep in zip("ab", scores, values, (pair.a, pair.b)):
            weights = kept_softmax(score.mT, keep[:, None])
            tap(Site(role=f"pool/{name}_over_{name}"), weights, ("head", "key"), "weight", ("key",))
            by_head = value.unflatten(-1, (weights.shape[1], -1)).transpose(1, 2)
            pooled.append((weights[:, :, None] @ by_head).flatten(1))
        return pooled[0], pooled[1]


class MaxPooling(nn.Module):
    """The ablation "simple pool": the largest value of each feature; zeros where no token is real."""

    def __init__(self, width: int, heads: int):
        super().__init__()

    def forward(self, pair: Pair) -> tuple[Tensor, Tensor]:
        """A vector [B, width] of each side."""
        a, b = (max_pool(x, keep) for x, keep in zip(pair.split, (pair.a, pair.b)))
        return a, b


def max_pool(x: Float[Tensor, "B n h"], keep: Bool[Tensor, "B n"]) -> Float[Tensor, "B h"]:
    """The maximum of each feature over the real tokens; zeros if there is none."""
    maxima = x.masked_fill(~keep[..., None], torch.finfo(x.dtype).min).amax(1)
    return maxima.masked_fill(~keep.any(1, keepdim=True), 0.0)


POOLINGS = {"heads": HeadPooling, "max": MaxPooling}
