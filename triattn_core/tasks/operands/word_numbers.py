"""Numbers of a word problem: written in digits, as words, as fractions, and made by earlier steps.

Each has its value, its place in the text and the words around it, which is all that a model knows of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triattn_core.tasks.operands.number_words import WORDS, compound

KINDS = ("digit", "word", "result")
AROUND = 4  # words before and after a number that belong to it
HERE = "#"  # the number itself among its words
_TOKEN = re.compile(r"\d+/\d+|\d[\d,]*\.?\d*|\.\d+|[a-z]+(?:'s)?|[.,?:;$%]")
_FEW, _MANY = 1e-9, 1e12  # values outside are no numbers of a problem


@dataclass(frozen=True)
class Number:
    """One number of a problem.

    kind: of KINDS.  words: up to AROUND words before it, HERE, up to AROUND words after it.
    span: its characters in the problem followed by its steps; (0, 0) if the text is not known.
    """

    value: float
    kind: str
    words: tuple[str, ...] = (HERE,)
    span: tuple[int, int] = (0, 0)


def tokens(text: str) -> list[tuple[str, int, int]]:
    """(token, start, end) of lower-cased words, numbers and marks; a number keeps the comma or full stop after it."""
    return [(match[0], *match.span()) for match in _TOKEN.finditer(text.lower())]


def value_of(token: str) -> tuple[float, str] | None:
    """The value and kind of a token; None if it is no number, or zero, which no step can be told from."""
    if token in WORDS:
        return WORDS[token], "word"
    if not any(char.isdigit() for char in token):
        return None
    above, _, below = token.replace(",", "").partition("/")
    below_value = float(below or 1)
    value = float(above) / below_value if below_value else 0.0
    return (value, "digit") if _FEW < value < _MANY else None


def find_numbers(text: str, start: int = 0, whole: bool = False) -> Iterator[Number]:
    """The numbers of a text in their order; start: where the text begins in a longer one.

    whole: several words that are one number (`twenty-five`) are read as one; else word by word, as in GSM8K's steps.
    """
    found, i = tokens(text), 0
    while i < len(found):
        token, first, _ = found[i]
        several = compound(found, text, i) if whole else None
        number, end = ((several[0], "word"), i + several[1]) if several else (value_of(token), i + 1)
        if number is not None:
            before, after = ([word for word, *_ in part] for part in (found[max(0, i - AROUND) : i], found[end:]))
            shown = len(found[end - 1][0].rstrip(",."))  # without the mark that follows
            span = start + first, start + found[end - 1][1] + shown
            yield Number(*number, (*before, HERE, *after[:AROUND]), span)
        i = end


def result_of_step(before: str, value: float, span: tuple[int, int]) -> Number:
    """The number that a step makes; before: the words of its line up to it."""
    return Number(value, "result", (*[word for word, *_ in tokens(before)][-AROUND:], HERE), span)


def is_near(value: float, other: float) -> bool:
    """Whether two values are one number, rounded to two places or to two digits, whichever is finer."""
    return abs(value - other) <= 0.01 * max(min(abs(other), 1.0), 1e-9)


def held_by_steps(numbers: Sequence[Number]) -> list[bool]:
    """Of each number whether its value stands among the words of an earlier step: it has been used, probably."""
    words = {word for number in numbers if number.kind == "result" for word in number.words}
    held = {round(value[0], 4) for value in map(value_of, words) if value and value[1] == "digit"}
    return [round(number.value, 4) in held for number in numbers]
