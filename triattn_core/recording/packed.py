"""Heads that a model lays on the axis of the queries, as the library does where heads share keys and one token is read.

[batch, h, 1, d] becomes [batch, g, h / g, d] for the call alone: no keys need to be repeated.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.rebuild import FusedCall


class PackedHeads:
    """The tensors of one query a head that were seen to get several in place of heads."""

    def __init__(self) -> None:
        self.seen: Any = WeakTensorKeyDictionary()

    def see(self, name: str, args: Any, result: Any) -> None:
        """Takes a function that has run."""
        if name not in ("reshape", "view") or not isinstance(result, Tensor) or result.ndim < 3:
            return
        source = args[0]
        if (
            not isinstance(source, Tensor)
            or source.ndim != result.ndim
            or (source.shape[-2], result.shape[-2]) == (1, 1)
        ):
            return
        if source.shape[-2] == 1 and (*source.shape[:-3], source.shape[-1]) == (*result.shape[:-3], result.shape[-1]):
            self.seen[result] = True

    def unpacked(self, call: FusedCall, result: Tensor | None = None) -> tuple[FusedCall, Any]:
        """The call and what it returned with heads on an axis of their own; both as they are where they have one."""
        query, mask = call.query, call.attn_mask
        if query not in self.seen or call.is_causal:
            return call, result
        if mask is not None and mask.ndim > 2:
            mask = one_query(mask.expand(*query.shape[:-1], mask.shape[-1]))
        elif mask is not None:
            mask = mask.expand(query.shape[-2], -1)[:1]
        own = FusedCall(one_query(query), call.key, call.value, mask, call.dropout_p, False, call.scale, True)
        return own, None if result is None else one_query(result)


def one_query(tensor: Tensor) -> Tensor:
    """[…, g, r, d] as [..., g r, 1, d]."""
    return tensor.reshape(*tensor.shape[:-3], -1, 1, tensor.shape[-1])
