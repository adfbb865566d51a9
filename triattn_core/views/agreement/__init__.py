"""Who is right where, and whether two checkpoints differ by chance."""

from triattn_core.views.agreement.figure import (
    APART,
    Test,
    figure,
    probability,
)

__all__ = [
    "APART",
    "Test",
    "figure",
    "probability",
]
