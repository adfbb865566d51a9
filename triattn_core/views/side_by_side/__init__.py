"""Two to four maps on one scale, and the difference of any two."""

from triattn_core.views.side_by_side.described import NOTES
from triattn_core.views.side_by_side.figure import FEWEST, MOST, NEEDS, figure
from triattn_core.views.side_by_side.scales import NOISE, NOTHING, scale_of
from triattn_core.views.side_by_side.sentences import alt
from triattn_core.views.side_by_side.table import table

__all__ = [
    "FEWEST",
    "MOST",
    "NEEDS",
    "NOISE",
    "NOTES",
    "NOTHING",
    "alt",
    "figure",
    "scale_of",
    "table",
]
