"""All heads of a trace at once: a thumbnail each, layer by layer, with a measure below each."""

from triattn_core.views.head_grid.figure import figure, strip
from triattn_core.views.head_grid.grid import MEASURE_NAMES

__all__ = ["MEASURE_NAMES", "figure", "strip"]
