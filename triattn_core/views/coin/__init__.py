"""COIN's blocks, one below the other."""

from triattn_core.views.coin.blocks import NEEDS
from triattn_core.views.coin.figure import (
    BEYOND,
    EVEN,
    GATE,
    GATES,
    NOTHING,
    PARTS,
    SCRIPT,
    STYLE,
    TRAINED,
    alt,
    caption,
    figure,
)

__all__ = [
    "NEEDS",
    "BEYOND",
    "EVEN",
    "GATE",
    "GATES",
    "NOTHING",
    "PARTS",
    "SCRIPT",
    "STYLE",
    "TRAINED",
    "alt",
    "caption",
    "figure",
]
