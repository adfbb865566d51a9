"""The cube explorer: three axes as three linked slices through one cell."""

from triattn_core.views.cube.cells import NEEDS, TRIPLES, axes_of
from triattn_core.views.cube.figure import STAMPED, STYLE, TITLES, figure, stamp
from triattn_core.views.cube.sentences import FEW, LISTED

__all__ = [
    "FEW",
    "LISTED",
    "NEEDS",
    "STAMPED",
    "STYLE",
    "TITLES",
    "TRIPLES",
    "axes_of",
    "figure",
    "stamp",
]
