"""Attention maps on one scale, as those of MTSA heads, with source2token weights beside them."""

from triattn_core.views.attention_maps.figure import (
    NAMED,
    NEEDS,
    SCALES,
    alt,
    figure,
    first_cell,
    mark_legend,
    scale_of,
)

__all__ = [
    "NAMED",
    "NEEDS",
    "SCALES",
    "alt",
    "figure",
    "first_cell",
    "mark_legend",
    "scale_of",
]
