"""Names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def listing(names: Sequence[str]) -> str:
    """The names, separated by commas and a final “and”; empty if there are none."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
