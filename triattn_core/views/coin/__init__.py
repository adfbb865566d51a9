"""COIN's blocks, one below the other."""

from triattn_core.views.coin.blocks import NEEDS
from triattn_core.views.coin.figure import figure
from triattn_core.views.coin.scales import GATE
from triattn_core.views.coin.sentences import BEYOND, EVEN, GATES, NOTHING, TRAINED, alt, caption

__all__ = [
    "NEEDS",
    "BEYOND",
    "EVEN",
    "GATE",
    "GATES",
    "NOTHING",
    "TRAINED",
    "alt",
    "caption",
    "figure",
]
