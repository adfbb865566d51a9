"""Positional masks: which positions a token may attend to (MTSA, section 3.2; DiSA, Shen et al. 2018).

A mask M [query, key] is added to scores before their softmax: 0 where the query (the governor) may attend to the key
(the dependent), -inf where not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from triattn_core.errors import ConfigError, choices

Shape = Callable[[Tensor], Tensor]  # query position - key position [n, n] → M

WINDOW = "window:"  # prefix, followed by the number of tokens on either side
FARTHEST = 1_000_000


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


def of_heads(names: Sequence[str], heads: int) -> tuple[str, ...]:
    """The mask of each head, from one name for all or one each; by default forward for the first half of the heads and
    backward for the rest (MTSA, section 3.2).

    Raises ConfigError: an unknown name, or a wrong number of names.
    """
    names = list(names) or ["forward"] * (heads // 2) + ["backward"] * (heads - heads // 2)
    masks = tuple(map(require_mask, names * heads if len(names) == 1 else names))
    if len(masks) != heads:
        raise ConfigError(f"{len(masks)} masks for {heads} heads: name one, or one for each")
    return masks


def require_mask(name: str) -> str:
    """Returns the name if it is that of a mask.  Raises ConfigError that suggests the closest."""
    reach = name.removeprefix(WINDOW) if name.startswith(WINDOW) else ""
    if name in MASKS or (reach.isdecimal() and 0 < int(reach) <= FARTHEST):
        return name
    if reach.isdecimal():
        raise ConfigError(f"mask {name!r}: a window reaches 1 to {FARTHEST:,} tokens to either side")
    raise ConfigError(f"unknown mask {name!r}; {choices(name, (*MASKS, WINDOW + '3'))}")
