"""Information in attention weights, in bits: whether the query matters, and what a cube adds to its marginals.

For a head with weights A[n,i,j] (two-way: no j), `K[n,i] = sum_j A[n,i,j]`, `C[n,j] = sum_i A[n,i,j]` and
`K_mean = mean_n K[n]` over the real queries:

    query information      mean_n KL(K[n] || K_mean)       mutual information of key and query, for uniform queries;
                                                           0 if all queries attend equally, at most log2 N
    context information    mean_n KL(A[n] || K[n] x C[n])  I(key; context | query); 0 if the cube is the product of
                                                           its marginals
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def query_information(weights: Float[Tensor, "B H N *cells"], keep_query: Bool[Tensor, "B N"]) -> Float[Tensor, "B H"]:
    """Bits per example and head, of weights [B, H, N, I] or [B, H, N, I, J]; 0 if there is no real query."""
    keys = weights if weights.ndim == 4 else weights.sum(4)
    real = keep_query[:, None, :, None]
    average = mean_over(keys * real, keep_query)[:, :, None]
    return mean_over(divergence(keys, average) * real[..., 0], keep_query)


def context_information(weights: Float[Tensor, "B H N I J"], keep_query: Bool[Tensor, "B N"]) -> Float[Tensor, "B H"]:
    """Bits per example and head, of weights [B, H, N, I, J]; 0 if there is no real query."""
    marginals = weights.sum(4, keepdim=True) * weights.sum(3, keepdim=True)
    bits = divergence(weights.flatten(3), marginals.flatten(3))
    return mean_over(bits * keep_query[:, None], keep_query)


def divergence(p: Float[Tensor, "*p n"], q: Float[Tensor, "*q n"]) -> Float[Tensor, "*b"]:
    """KL(p || q) in bits over the last axis; q is positive wherever p is."""
    return torch.where(p > 0, p * (p / q.clamp(min=torch.finfo(q.dtype).tiny)).clamp(min=1e-38).log2(), 0.0).sum(-1)


def mean_over(values: Tensor, keep_query: Bool[Tensor, "B N"]) -> Tensor:
    """The mean over real queries (axis 2) of [B, H, N, ...], whose others are zero."""
    count = keep_query.sum(1).clamp(min=1)
    return values.sum(2) / count.view(-1, *[1] * (values.ndim - 2))
