"""What blocks need that read tokens in order: the real ones side by side, wherever the padding stands."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor


def places(keep: Bool[Tensor, "B n"]) -> Int[Tensor, "B n"]:
    """The number of each real token, from 0."""
    return (keep.cumsum(1) - 1).clamp(min=0)


def aligned(
    x: Float[Tensor, "B n h"], keep: Bool[Tensor, "B n"]
) -> tuple[Float[Tensor, "B n h"], Bool[Tensor, "B n"], Int[Tensor, "B n"] | None]:
    """x and keep with the real tokens first, padding zeros; and where each came from, for `back`: None where they
    stood so already."""
    if bool((keep[:, 1:] <= keep[:, :-1]).all()):
        return x * keep[..., None], keep, None
    order = (~keep).int().argsort(dim=1, stable=True)
    keep = keep.gather(1, order)
    return x.gather(1, order[..., None].expand_as(x)) * keep[..., None], keep, order


def back(x: Float[Tensor, "B n h"], order: Int[Tensor, "B n"] | None) -> Float[Tensor, "B n h"]:
    """Every token where it stood before `aligned`."""
    if order is None:
        return x
    return x.new_zeros(x.shape).scatter(1, order[..., None].expand_as(x), x)
