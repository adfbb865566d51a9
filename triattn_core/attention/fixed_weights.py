"""Fixed weights: controls that a model's learnt weights are compared with.

The functions of `FIXED` take weights [B, head, N, I] or [B, head, N, I, J] and the keep-masks of their axes ([B, n]
bool by the names query, key and context), and return weights of the same shape.  Rows with nothing to attend to stay
zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import torch
from torch import Tensor

AXES = ("query", "key", "context")


def keep_along(keeps: Mapping[str, Tensor], name: str, ndim: int) -> Tensor:
    """The keep-mask of an axis, shaped to broadcast with weights of `ndim` axes."""
    dim = AXES.index(name) + 2
    return keeps[name].view(len(keeps[name]), *(-1 if d == dim else 1 for d in range(1, ndim)))


def even(weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
    """The same weight for every cell that may be attended to."""
    cells = keep_along(keeps, "key", weights.ndim)
    if weights.ndim == 5:
        cells = cells & keep_along(keeps, "context", 5)
    axes = tuple(range(3, weights.ndim))
    shares = cells / cells.sum(axes, keepdim=True).clamp(min=1)
    return shares.to(weights.dtype).expand_as(weights)


def mean_over_queries(weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
    """The mean weights of all real queries, for every query: `K_mean` for two axes, the mean cube for three."""
    real = keep_along(keeps, "query", weights.ndim)
    count = real.sum(2, keepdim=True).clamp(min=1)
    return ((weights * real).sum(2, keepdim=True) / count).expand_as(weights)


def product_of_marginals(weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
    """`K[n,i] C[n,j]`: the cube without dependence between key and context.  Two-way weights are unchanged."""
    if weights.ndim == 4:
        return weights
    return weights.sum(4, keepdim=True) * weights.sum(3, keepdim=True)


def permuted_keys(weights: Tensor, keeps: Mapping[str, Tensor], draw: torch.Generator) -> Tensor:
    """One permutation of the real keys for each example and head, the same for all queries and context tokens."""
    keep = keeps["key"][:, None].expand(-1, weights.shape[1], -1)
    noise = torch.rand(keep.shape, generator=draw, device=draw.device).to(weights.device)
    # Sort keys by noise, real ones first; the k-th real position takes the weight of the k-th sorted key.
    targets = (~keep).int().argsort(dim=-1, stable=True)
    shuffled = noise.masked_fill(~keep, 2.0).argsort(dim=-1, stable=True)
    source = torch.zeros_like(targets).scatter(-1, targets, shuffled)
    index = source.view(*source.shape[:2], 1, -1, *[1] * (weights.ndim - 4)).expand_as(weights)
    return weights.gather(3, index)


FIXED = {"even": even, "mean_over_queries": mean_over_queries, "product_of_marginals": product_of_marginals}


def replacement(name: str, seed: int = 0):
    """The function of `FIXED` with this name, or `permuted_keys` with its own random draws, for `weight_override`."""
    if name != "permuted_keys":
        fixed = FIXED[name]
    else:
        fixed = partial(permuted_keys, draw=torch.Generator().manual_seed(seed))
    return lambda site, weights, keeps: fixed(weights, keeps)
