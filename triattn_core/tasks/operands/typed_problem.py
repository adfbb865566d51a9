"""A problem as a reader types it: its numbers, and those that two of them make.

A line that holds a sum that is done, as `15 + 8 = 23`, is a step: its last number is a result, and its other numbers
are not counted again.  All other lines are the problem.  Several words that are one number (twenty-five) are one here;
a comma belongs to a number before three digits alone.  The numbers of a question (which two numbers make 72?) are none
of the problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from triattn_core.tasks.operands.gsm8k import OPERATIONS, makes, operate
from triattn_core.tasks.operands.word_numbers import Number, find_numbers, is_near, result_of_step

SIGNS = {"+": "+", "-": "\N{MINUS SIGN}", "*": "\N{MULTIPLICATION SIGN}", "/": "\N{DIVISION SIGN}"}
OFFERED = 24  # numbers to choose from
LARGEST = 1e6  # that is offered
_QUESTION = re.compile(
    r"\b(?:which|what) (?:two|2)\b[^.?!=\n]*\bmakes? +\$?(\d(?:[\d,./]*\d)?)(?: +[a-z]+)?(?: *[.?!]+(?=\s|$)| *$)",
    re.I | re.M,
)
_STEP = re.compile(r"[-+*/x\u00d7\u00f7\u2212] *\(?\$?[\d.,/]*\d\)? *(?:%|[a-z]+)? *= *\$?[\d.]", re.I)
_LIST_COMMA = re.compile(r"(?<=\d),(?!\d{3}(?!\d))")


def typed_numbers(text: str) -> list[Number]:
    """The numbers of a problem and of the steps below it, in their order, with their places in the text."""
    numbers: list[Number] = []
    start, read = 0, _LIST_COMMA.sub(" ", text)
    for is_step, lines in groupby(read.splitlines(keepends=True), lambda line: bool(_STEP.search(line))):
        for part in lines if is_step else ["".join(lines)]:
            numbers += _result(part, start) if is_step else find_numbers(part, start, whole=True)
            start += len(part)
    questions = [match.span() for match in _QUESTION.finditer(text)]
    return [number for number in numbers if not any(first <= number.span[0] < end for first, end in questions)]


def asked_number(text: str) -> str | None:
    """The number that a question in the text asks for, as it is written there; of several the last, or None."""
    return found[-1] if (found := _QUESTION.findall(text)) else None


def _result(line: str, start: int) -> Iterator[Number]:
    """What a step makes: the first number after its last equals sign."""
    sign = line.rindex("=") + 1
    for number in find_numbers(line[sign:], start + sign, whole=True):
        yield result_of_step(line[: number.span[0] - start], number.value, number.span)
        return


def made_numbers(numbers: Sequence[Number]) -> list[float]:
    """At most OFFERED numbers that two of these make, those of neighbours first, in rising order.

    Whole numbers alone where there are any; none that is zero or less, which is no number of a problem.
    """
    count = len(numbers)
    near = [(i, i + apart) for apart in range(1, count) for i in range(count - apart)]
    found = list(dict.fromkeys(value for pair in near for value in _made(*(numbers[i].value for i in pair))))
    whole = [value for value in found if value == round(value)]
    return sorted((whole or found)[:OFFERED])


def _made(left: float, right: float) -> Iterable[float]:
    """The numbers that two make, to six places."""
    for sign in OPERATIONS:
        for a, b in ((left, right), (right, left)):
            value = operate(a, sign, b)
            if value is not None and 1e-6 < value <= LARGEST:
                yield round(value, 6)


def equation(left: float, right: float, result: float) -> str:
    """How two numbers make a third, such as `24 − 15 = 9`; "" if they do not."""
    for sign in makes(left, right, result):
        for a, b in ((left, right), (right, left)):
            value = operate(a, sign, b)
            if value is not None and is_near(value, result):
                return f"{show(a)} {SIGNS[sign]} {show(b)} = {show(result)}"
    return ""


def show(value: float) -> str:
    """A number as it is written for a reader."""
    return f"{value:,.10g}"
