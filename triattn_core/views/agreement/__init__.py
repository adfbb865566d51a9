"""Who is right where, and whether two checkpoints differ by chance."""

from triattn_core.views.agreement.figure import (
    APART,
    SCRIPT,
    STYLE,
    Test,
    figure,
    probability,
)

__all__ = [
    "APART",
    "SCRIPT",
    "STYLE",
    "Test",
    "figure",
    "probability",
]
