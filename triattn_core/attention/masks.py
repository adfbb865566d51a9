"""Positional masks: which positions a token may attend to (MTSA, section 3.2; DiSA, Shen et al. 2018).

A mask M [query, key] is added to scores before their softmax: 0 where the query (the governor) may attend to the key
(the dependent), -inf where not.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from triattn_core.configs.mask_names import WINDOW, require_mask

Shape = Callable[[Tensor], Tensor]  # query position - key position [n, n] → M


def _only(allowed: Tensor) -> Tensor:
    return torch.zeros(allowed.shape, device=allowed.device).masked_fill(~allowed, -torch.inf)


MASKS: dict[str, Shape] = {
    "forward": lambda offset: _only(offset >= 0),  # earlier tokens only
    "backward": lambda offset: _only(offset <= 0),  # later tokens only
    "distance": lambda offset: -offset.abs().float(),  # all, less with distance
    "none": lambda offset: torch.zeros(offset.shape, device=offset.device),
}


def mask(name: str, n: int, include_self: bool = False, device: torch.device | str = "cpu") -> Tensor:
    """M [n, n], float32: one of MASKS, or `window:k` for k tokens on either side.

    include_self: whether a token may attend to itself; with `none` it always may.  Raises ConfigError: unknown name.
    """
    require_mask(name)
    positions = torch.arange(n, device=device)
    offset = positions[:, None] - positions
    allowed = _only(offset.abs() <= int(name.removeprefix(WINDOW))) if name.startswith(WINDOW) else MASKS[name](offset)
    return allowed if include_self or name == "none" else allowed.masked_fill(offset == 0, -torch.inf)
