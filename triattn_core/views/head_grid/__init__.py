"""All heads of a trace at once: a thumbnail each, layer by layer, with a measure below each."""

from triattn_core.views.head_grid.figure import MEASURE_NAMES, figure, strip

__all__ = ["MEASURE_NAMES", "figure", "strip"]
