"""The maps of MTSA heads on one scale."""

from triattn_core.views.attention_maps.figure import (
    NAMED,
    NEEDS,
    SCALES,
    SCRIPT,
    STYLE,
    alt,
    figure,
    first_cell,
    scale_of,
)

__all__ = [
    "NAMED",
    "NEEDS",
    "SCALES",
    "SCRIPT",
    "STYLE",
    "alt",
    "figure",
    "first_cell",
    "scale_of",
]
