"""No context: the neutral element of each operation, inserted after the projection (Tri-Attention, section IV-A)."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def with_neutral(
    projected: Float[Tensor, "*c J D"], has_context: Bool[Tensor, "*b"] | None, neutral: float
) -> Float[Tensor, "*c J D"]:
    """`projected` with the rows that have no context replaced by the neutral element: 0 where context is added, 1
    where it multiplies.  `has_context` has the leading (batch) dims of `projected`; None: every row has context.
    """
    if has_context is None:
        return projected
    rows = has_context.reshape(has_context.shape + (1,) * (projected.ndim - has_context.ndim))
    return torch.where(rows, projected, neutral)


def at_least_one(
    context: Float[Tensor, "B J h"], keep: Bool[Tensor, "B J"]
) -> tuple[Float[Tensor, "B J1 h"], Bool[Tensor, "B J1"], Bool[Tensor, " B"]]:
    """Context with a position for the neutral element: `(context, keep, has_context)`.

    If no row of the batch has a context token (J = 0), one position is added; in a row without real tokens, the first
    position is kept for the neutral element.
    """
    if context.shape[1] == 0:
        context = context.new_zeros(context.shape[0], 1, context.shape[2])
        keep = keep.new_zeros(keep.shape[0], 1)
    has_context = keep.any(1)
    first = torch.zeros_like(keep)
    first[:, 0] = True
    return context, torch.where(has_context[:, None], keep, first), has_context
