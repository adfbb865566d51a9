"""How signs are written."""

from __future__ import annotations

import re


def minus(said: str) -> str:
    """The same with the minus of numbers as wide as a plus; hyphens stay."""
    return re.sub(r"(?<![\w.])-(?=\d)", "\u2212", said)
