"""Two to four maps on one scale, and the difference of any two."""

from triattn_core.views.side_by_side.figure import (
    FEWEST,
    MOST,
    NEEDS,
    NOISE,
    NOTES,
    NOTHING,
    SCRIPT,
    STYLE,
    alt,
    figure,
    scale_of,
    table,
)

__all__ = [
    "FEWEST",
    "MOST",
    "NEEDS",
    "NOISE",
    "NOTES",
    "NOTHING",
    "SCRIPT",
    "STYLE",
    "alt",
    "figure",
    "scale_of",
    "table",
]
