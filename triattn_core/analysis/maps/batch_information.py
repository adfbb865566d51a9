"""Query and context information of a batch of padded maps: see `triattn_core.trace.information`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.trace import information


def query_information(weights: Float[Tensor, "B H N *cells"], keep_query: Bool[Tensor, "B N"]) -> Float[Tensor, "B H"]:
    """Bits per example and head, of weights [B, H, N, I] or [B, H, N, I, J]; 0 if there is no real query."""
    keys = weights if weights.ndim == 4 else weights.sum(4)
    return _each_example(information.query_information, keys, keep_query)


def context_information(weights: Float[Tensor, "B H N I J"], keep_query: Bool[Tensor, "B N"]) -> Float[Tensor, "B H"]:
    """Bits per example and head, of weights [B, H, N, I, J]; 0 if there is no real query."""
    return _each_example(information.context_information, weights, keep_query)


def _each_example(bits: Callable[[np.ndarray], np.ndarray], weights: Tensor, keep_query: Tensor) -> Tensor:
    """One by one, without padded queries: a batch of cubes in float64 is large."""
    rows = [bits(maps[:, keep].cpu().numpy()) for maps, keep in zip(weights, keep_query)]
    return torch.from_numpy(np.stack(rows)).to(weights)
