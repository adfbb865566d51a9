"""English words that stand for numbers, and several that are one number: twenty-five, three hundred and five.

Words that multiply in a step of their own (two dozen, 32 million after digits) are no compounds: there the annotated
steps of GSM8K take the parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
# What a word stands for: its number, how many times, how many of the next smaller unit; a third counts as three parts.
WORDS: dict[str, float] = {
    **{word: float(i) for i, word in enumerate(ONES, 1)},
    **{word: 10.0 * i for i, word in enumerate(TENS, 2)},
    "hundred": 100.0,
    "thousand": 1000.0,
    "million": 1e6,
    "dozen": 12.0,
    "once": 1.0,
    "twice": 2.0,
    "double": 2.0,
    "doubled": 2.0,
    "thrice": 3.0,
    "triple": 3.0,
    "half": 0.5,
    "quarter": 0.25,
    "third": 3.0,
    **dict.fromkeys(("minute", "minutes", "hour", "hours"), 60.0),
    **dict.fromkeys(("day", "days"), 24.0),
    **dict.fromkeys(("week", "weeks"), 7.0),
    **dict.fromkeys(("year", "years", "foot", "feet"), 12.0),
}
HUNDRED, _SCALES = "hundred", ("thousand", "million")
_GAP = re.compile(r"[ \t]+|-")
_COUNTED = re.compile(r"-[a-z]")  # twenty one-dollar bills are twenty
Token = tuple[str, int, int]  # text, start, end


def compound(found: Sequence[Token], text: str, first: int) -> tuple[float, int] | None:
    """The value of the number that begins at token `first`, and how many tokens it has; None for fewer than two.

    found: the tokens of the text.
    """
    value, end = _number(found, text, first)
    return (value, end - first) if end - first > 1 else None


def _number(found: Sequence[Token], text: str, at: int) -> tuple[float, int]:
    """Millions, thousands and what follows them, each at most once."""
    total, largest = 0.0, 1e9
    while True:
        start = _after_and(found, text, at) if total else at
        if total and not _word(found, text, start, (*ONES, *TENS, HUNDRED)):
            return total, at
        value, end = _below_thousand(found, text, start)
        scale = _word(found, text, end, _SCALES) if value else ""
        if not value or WORDS.get(scale, 1.0) >= largest:
            return total, at
        total, at = total + value * WORDS.get(scale, 1.0), end + bool(scale)
        if not scale:
            return total, at
        largest = WORDS[scale]


def _below_thousand(found: Sequence[Token], text: str, at: int) -> tuple[float, int]:
    value, end = (1.0, at) if found[at][0] == HUNDRED else _below_hundred(found, text, at)
    if value and (end == at or _word(found, text, end, (HUNDRED,))):
        value, end = 100 * value, end + 1
        start = _after_and(found, text, end)
        if _word(found, text, start, (*ONES, *TENS)):
            rest, rest_end = _below_hundred(found, text, start)
            if not _word(found, text, rest_end, (HUNDRED,)):  # one hundred and two hundred are two numbers
                value, end = value + rest, rest_end
    return value, end


def _below_hundred(found: Sequence[Token], text: str, at: int) -> tuple[float, int]:
    if found[at][0] not in (*ONES, *TENS):
        return 0.0, at
    value = WORDS[found[at][0]]
    one = _word(found, text, at + 1, ONES[:9]) if found[at][0] in TENS else ""
    if one and not _COUNTED.match(text.lower(), found[at + 1][2]):
        return value + WORDS[one], at + 2
    return value, at + 1


def _word(found: Sequence[Token], text: str, at: int, words: Sequence[str]) -> str:
    """The token at a place, if it is one of these words and follows the one before directly; else ""."""
    if not 0 < at < len(found) or found[at][0] not in words:
        return ""
    return found[at][0] if _GAP.fullmatch(text[found[at - 1][2] : found[at][1]]) else ""


def _after_and(found: Sequence[Token], text: str, at: int) -> int:
    """The place after an `and` at this place, if there is one and a number goes on."""
    goes_on = _word(found, text, at, ("and",)) and _word(found, text, at + 1, (*ONES, *TENS))
    return at + 1 if goes_on else at
