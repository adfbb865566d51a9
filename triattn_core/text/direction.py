"""Text from right to left inside a sentence from left to right."""

from __future__ import annotations

import re

OPEN, CLOSE = "\u2068", "\u2069"  # first strong isolate, pop directional isolate
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_QUOTED = re.compile("(?<=“)[^”]*(?=”)")


def isolate(text: str) -> str:
    """The text with its direction isolated if it has letters that run from right to left, so that a number or a comma
    after it stays behind it; other text as it is."""
    return f"{OPEN}{text}{CLOSE}" if _RIGHT_TO_LEFT.search(text) else text


def isolate_quotes(sentence: str) -> str:
    """A sentence with each “quoted” text isolated inside its quotes, see `isolate`."""
    return _QUOTED.sub(lambda match: isolate(match[0]), sentence)
