"""From relevances to weights: one softmax per query, after masking; zeros if a query has nothing to attend to."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def masked_softmax(relevance: Float[Tensor, "*b N I"], keep_key: Bool[Tensor, "*m I"]) -> Float[Tensor, "*b N I"]:
    """Softmax over keys (Tri-Attention, Eq. 4). True in `keep_key` = a real token; sums to one over key."""
    return kept_softmax(relevance, keep_key[..., None, :])


def joint_softmax(
    relevance: Float[Tensor, "*b N I J"],
    keep_key: Bool[Tensor, "*m I"],
    keep_context: Bool[Tensor, "*m J"],
    distinct: bool = False,
) -> Float[Tensor, "*b N I J"]:
    """One softmax per query over all (key, context) pairs together (Eq. 15); sums to one over key x context.

    distinct: pairs of a key with the context token at its own place get no weight.
    """
    keep = keep_key[..., None, :, None] & keep_context[..., None, None, :]
    if distinct:
        keep = keep & ~torch.eye(*relevance.shape[-2:], dtype=torch.bool, device=keep.device)
    flat = kept_softmax(relevance.flatten(-2), keep.expand(*keep.shape[:-2], *relevance.shape[-2:]).flatten(-2))
    return flat.view_as(relevance)


def kept_softmax(relevance: Tensor, keep: Tensor, axis: int = -1) -> Tensor:
    """Softmax over an axis in at least float32; a row with nothing kept is zeros, and so is its gradient.

    keep: broadcast to `relevance`; both have the axis.
    """
    if relevance.dtype in (torch.float16, torch.bfloat16):
        return kept_softmax(relevance.float(), keep, axis).to(relevance.dtype)
    if keep.all():
        return relevance.softmax(axis)
    empty = ~keep.any(axis, keepdim=True)
    # The mask replaces the score: an infinite score would survive an added mask.
    weights = torch.where(keep, relevance, torch.where(empty, 0.0, -torch.inf).to(relevance.dtype)).softmax(axis)
    return weights.masked_fill(empty, 0.0) if empty.any() else weights
