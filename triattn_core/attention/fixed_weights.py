"""Weights that do not depend on what a model has learnt: the controls that its own weights are compared with.

`FIXED` takes weights [B, head, N, I] or [B, head, N, I, J] and the keep-masks of their axes ([B, n] bool by the names
query, key and context) and returns weights of the same shape.  A row with nothing to attend to stays zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import torch
from torch import Tensor

AXES = ("query", "key", "context")


def keep_along(keeps: Mapping[str, Tensor], name: str, ndim: int) -> Tensor:
    """The keep-mask of an axis, shaped to meet weights of `ndim` axes."""
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
    """The mean of the real queries' weights, for every query: `K_mean` for two axes, the mean cube for three."""
    real = keep_along(keeps, "query", weights.ndim)
    count = real.sum(2, keepdim=True).clamp(min=1)
    return ((weights * real).sum(2, keepdim=True) / count).expand_as(weights)


def product_of_marginals(weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
    """`K[n,i] C[n,j]`: the cube without what key and context have to do with each other.  Two-way weights stay."""
    if weights.ndim == 4:
        return weights
    return weights.sum(4, keepdim=True) * weights.sum(3, keepdim=True)


def permuted_keys(weights: Tensor, keeps: Mapping[str, Tensor], draw: torch.Generator) -> Tensor:
    """One permutation of the real keys for each example and head, the same for all queries and context tokens."""
    keep = keeps["key"][:, None].expand(-1, weights.shape[1], -1)
    noise = torch.rand(keep.shape, generator=draw, device=draw.device).to(weights.device)
    # Sorted by noise, real keys first; the k-th real place takes what the k-th of the sorted real keys has.
    places = (~keep).int().argsort(dim=-1, stable=True)
    drawn = noise.masked_fill(~keep, 2.0).argsort(dim=-1, stable=True)
    source = torch.zeros_like(places).scatter(-1, places, drawn)
    index = source.view(*source.shape[:2], 1, -1, *[1] * (weights.ndim - 4)).expand_as(weights)
    return weights.gather(3, index)


FIXED = {"even": even, "mean_over_queries": mean_over_queries, "product_of_marginals": product_of_marginals}


def replacement(name: str, seed: int = 0):
    """The function of `FIXED` of this name, or `permuted_keys` with draws of its own, for `weight_override`."""
    if name != "permuted_keys":
        fixed = FIXED[name]
    else:
        fixed = partial(permuted_keys, draw=torch.Generator().manual_seed(seed))
    return lambda site, weights, keeps: fixed(weights, keeps)
