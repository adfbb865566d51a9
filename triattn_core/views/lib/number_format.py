"""How signs and probabilities are written."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

_SIGNED_ZERO = re.compile(r"(?<![\w.])[+\-\u2212](?=0(?:\.0+)?(?!\.?\d|e))")


def minus(text: str) -> str:
    """The same with the minus of numbers as wide as a plus; hyphens stay, and a number that rounds to zero loses its
    sign: -0.0 and +0.0 are 0.0."""
    return re.sub(r"(?<![\w.])-(?=\d)", "\u2212", _SIGNED_ZERO.sub("", text))


def probability(share: float) -> str:
    """Three digits, and never a 1 or a 0 that is not one."""
    if 0.9995 <= share < 1:
        return "> 0.999"
    return "< 0.001" if 0 < share < 0.0005 else f"{share:.3f}"


def half_up(value: float, digits: int) -> str:
    """A number with its halves rounded up in size, as it is written: 56.25 is 56.3, where Python's format has 56.2.
    What rounds to zero has no sign."""
    rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return str(rounded or abs(rounded))


def per_cent(value: float) -> str:
    """A percentage with one digit; all is `100`, and what only rounds to it has two: 99.97."""
    text = half_up(value, 1)
    return "100" if value == 100 else half_up(value, 2) if text == "100.0" else text


def ending(number: int) -> str:
    """What makes a number an ordinal: 2nd, 3rd, 4th."""
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, "th")
