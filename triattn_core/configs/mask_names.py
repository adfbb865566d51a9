"""Names of the positional masks that `attention.masks` makes."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.configs.names import MASKS
from triattn_core.errors import ConfigError, choices

WINDOW = "window:"  # prefix, followed by the number of tokens on either side


FARTHEST = 1_000_000


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
