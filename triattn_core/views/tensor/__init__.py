"""The tensor of one head in the cube explorer."""

from triattn_core.views.tensor.figure import (
    NEEDS,
    figure,
)

__all__ = [
    "NEEDS",
    "figure",
]
