"""For blocks that read tokens in order: real tokens first, padding last, and back."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor


def token_positions(keep: Bool[Tensor, "B n"]) -> Int[Tensor, "B n"]:
    """The index of each real token among the real ones, from 0."""
    return (keep.cumsum(1) - 1).clamp(min=0)


def move_padding_last(
    x: Float[Tensor, "B n h"], keep: Bool[Tensor, "B n"]
) -> tuple[Float[Tensor, "B n h"], Bool[Tensor, "B n"], Int[Tensor, "B n"] | None]:
    """x and keep with real tokens first and padding zeroed, and the order for `restore_order`: None if unchanged."""
    if bool((keep[:, 1:] <= keep[:, :-1]).all()):
        return x * keep[..., None], keep, None
    order = (~keep).int().argsort(dim=1, stable=True)
    keep = keep.gather(1, order)
    return x.gather(1, order[..., None].expand_as(x)) * keep[..., None], keep, order


def restore_order(x: Float[Tensor, "B n h"], order: Int[Tensor, "B n"] | None) -> Float[Tensor, "B n h"]:
    """Move every token back to its position before `move_padding_last`."""
    if order is None:
        return x
    return x.new_zeros(x.shape).scatter(1, order[..., None].expand_as(x), x)
