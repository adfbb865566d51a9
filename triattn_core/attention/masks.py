"""Positional masks: what a token may attend to by where it stands (MTSA, section 3.2; DiSA, Shen et al. 2018).

A mask M [query, key] is added to scores before their softmax: 0 where the query (the governor) may attend to the key
(the dependent), -inf where not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from triattn_core.errors import ConfigError, choices

Shape = Callable[[Tensor], Tensor]  # query less key [n, n], whole numbers → M

WINDOW = "window:"  # and how many tokens it reaches on either side
FARTHEST = 1_000_000


def _only(allowed: Tensor) -> Tensor:
    return torch.zeros(allowed.shape, device=allowed.device).masked_fill(~allowed, -torch.inf)


MASKS: dict[str, Shape] = {
    "forward": lambda ahead: _only(ahead >= 0),  # only what stands before it
    "backward": lambda ahead: _only(ahead <= 0),  # only what stands after it
    "distance": lambda ahead: -ahead.abs().float(),  # all, the farther the less
    "none": lambda ahead: torch.zeros(ahead.shape, device=ahead.device),
}


def mask(name: str, n: int, include_self: bool = False, device: torch.device | str = "cpu") -> Tensor:
    """M [n, n], float32: one of MASKS, or `window:k` for k tokens on either side.

    include_self: whether a token may attend to itself; of `none` it always does.  Raises ConfigError: unknown name.
    """
    known(name)
    places = torch.arange(n, device=device)
    ahead = places[:, None] - places
    found = _only(ahead.abs() <= int(name.removeprefix(WINDOW))) if name.startswith(WINDOW) else MASKS[name](ahead)
    return found if include_self or name == "none" else found.masked_fill(ahead == 0, -torch.inf)


def of_heads(names: Sequence[str], heads: int) -> tuple[str, ...]:
    """A mask for each head, of one name for all or one for each; by default forward for the first half of the heads and
    backward for the rest (MTSA, section 3.2).

    Raises ConfigError: an unknown name, or another number of them.
    """
    names = list(names) or ["forward"] * (heads // 2) + ["backward"] * (heads - heads // 2)
    found = tuple(map(known, names * heads if len(names) == 1 else names))
    if len(found) != heads:
        raise ConfigError(f"{len(found)} masks for {heads} heads: name one, or one for each")
    return found


def known(name: str) -> str:
    """The name of a mask as it stands.  Raises ConfigError naming the nearest."""
    reach = name.removeprefix(WINDOW) if name.startswith(WINDOW) else ""
    if name in MASKS or (reach.isdecimal() and 0 < int(reach) <= FARTHEST):
        return name
    if reach.isdecimal():
        raise ConfigError(f"mask {name!r}: a window reaches 1 to {FARTHEST:,} tokens to either side")
    raise ConfigError(f"unknown mask {name!r}; {choices(name, (*MASKS, WINDOW + '3'))}")
