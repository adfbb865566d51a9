"""The cube explorer: three axes as three linked slices through one cell."""

from triattn_core.views.cube.cells import NEEDS, axes_of
from triattn_core.views.cube.figure import STYLE, figure, stamp

__all__ = ["NEEDS", "STYLE", "axes_of", "figure", "stamp"]
