"""Masks of rows that are padded."""

from __future__ import annotations

import torch


def padding_masks(keys: int, contexts: int, empty: bool = True) -> list[torch.Tensor]:
    """Which keys [3, keys] and context tokens [3, contexts] are real: in a row whole, one padded on both sides, and one
    without a real key; without `empty` all are."""
    keep_key, keep_context = torch.ones(3, keys, dtype=torch.bool), torch.ones(3, contexts, dtype=torch.bool)
    if empty:
        keep_key[1, 4:] = keep_context[1, :2] = keep_context[1, 9:] = keep_key[2] = False
    return [keep_key, keep_context]
