"""The strongest cells of a cube as points in space."""

from triattn_core.views.points.figure import (
    AXES,
    CAMERA,
    NEEDS,
    TITLE,
    figure,
    said,
    title,
)

__all__ = [
    "AXES",
    "CAMERA",
    "NEEDS",
    "TITLE",
    "figure",
    "said",
    "title",
]
