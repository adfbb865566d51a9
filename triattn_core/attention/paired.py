"""Outputs without the cube: a pair of a key and a context token taken as one key.

Where the relevance is `sum_d q_d k_d c_d`, a pair (i, j) is just a key `k_i * c_j` with the value `v_c(i, j)`, kept
where both are; the joint softmax (Tri-Attention, Eq. 15) is an ordinary softmax over these I·J keys, and fused
attention never forms `[N, I, J]`.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

Factors = tuple[Tensor, Tensor, Tensor]  # query [.., N, D], key [.., I, D] and context [.., J, D] of the products


def pairs_are_smaller(query: Float[Tensor, "B H N D"]) -> bool:
    """Whether to go without the cube: N·I·J numbers of the cube against 2·I·J·D of the pairs' keys and values.

    For few queries the cube is the smaller of the two. Without a backward pass its softmax still costs more than the
    fused one's, so that the pairs are taken from N = D on.
    """
    queries, features = query.shape[-2:]
    return queries >= (2 * features if torch.is_grad_enabled() else features)


def paired_attention(
    query: Float[Tensor, "B H N D"],
    key: Float[Tensor, "B H I D"],
    context: Float[Tensor, "B H J D"],
    values: Float[Tensor, "B H I J V"],
    keep_key: Bool[Tensor, "B I"],
    keep_context: Bool[Tensor, "B J"],
) -> Float[Tensor, "B H N V"]:
    """`sum_ij A[n,i,j] v_c(i,j)`, A the softmax of `sum_d q_d k_d c_d` over the kept (i, j) (Eqs. 15 to 18).

    A query with nothing to attend to gives zeros.
    """
    keys = (key[..., :, None, :] * context[..., None, :, :]).flatten(-3, -2)
    keep = (keep_key[:, :, None] & keep_context[:, None, :]).flatten(1)
    # The lowest finite number instead of -inf: a row with nothing kept stays finite, gradients too.
    bias = torch.zeros(keep.shape, dtype=query.dtype, device=keep.device)
    bias = bias.masked_fill(~keep, torch.finfo(query.dtype).min)[:, None, None]
    bias = bias.expand(-1, 1, query.shape[-2], -1)
    found = scaled_dot_product_attention(query, keys, values.flatten(-3, -2), attn_mask=bias, scale=1.0)
    return found * keep.any(1)[:, None, None, None]
