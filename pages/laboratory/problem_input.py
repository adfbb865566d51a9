"""What goes in on the Laboratory's word problems: a problem, and a number that two of its numbers make; in the URL."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations

import streamlit as st

from triattn_core.errors import InputError
from triattn_core.tasks.operands import operand_pairs
from triattn_core.tasks.operands.example import Example, Pair
from triattn_core.tasks.operands.gsm8k import FEWEST, MOST, makes, operate
from triattn_core.tasks.operands.typed_problem import asked_number, made_numbers, show, typed_numbers
from triattn_core.tasks.operands.word_numbers import Number, is_near, value_of

PROBLEM, MADE = "problem", "makes"  # in the URL
CHIPS, LAST, QUESTION = "made-by-two", "word problem", "word problem's question"
ROW = "number-made"  # the container of the number asked for
LONGEST = 2000  # characters of a problem
OPENING = 1  # of the examples: Tri finds its pair, the others do not


@dataclass(frozen=True)
class Asked:
    """What was asked last: the problem, the number, and how a pair (left, right) makes it, where one does."""

    text: str
    count: int
    made: str
    pair: Pair
    sign: str


def menu() -> None:
    """The problems that can be taken as they are."""
    rows = operand_pairs.examples()
    options = {"format_func": lambda row: f"{show(row.result)} in: {row.text}", "width": 110}
    st.menu_button("Problems", rows, key="problem-row", on_click=_take, **options)


def example() -> Example:
    """The problem and the number as they are written.  Raises InputError for too few numbers, or no number asked."""
    opening = operand_pairs.examples()[OPENING]
    text = st.text_area("Problem, and below it steps that are done, one a line, such as 3 × 5 = 15", opening.text,
                        key=PROBLEM, bind="query-params", max_chars=LONGEST, height=76)  # fmt: skip
    numbers = typed_numbers(text)
    refused = _refusal(text, numbers)
    if refused is None:
        _follow(text, numbers)
    # The number is shown beside a problem that is refused too: it stays in the URL.
    with st.container(horizontal=True, vertical_alignment="top", key=ROW):
        made = st.text_input("Which two make", show(opening.result), key=MADE, bind="query-params", max_chars=20,
                             width=130)  # fmt: skip
        if refused is None:
            chips = [_plain(value) for value in made_numbers(numbers)]
            st.session_state[CHIPS] = made if made in chips else None
            label = "or click a number that two of them make"
            st.pills(label, chips, key=CHIPS, on_change=_choose, wrap=True)
    if refused is not None:
        raise refused
    return Example(text, tuple(numbers), _value(made))


def remember(example: Example, pair: Pair) -> None:
    """Notes how the number is made, so that it can follow a change of the text.  pair: where several fit, this one."""
    values = [number.value for number in example.numbers]
    for i, j in (pair, pair[::-1]):
        for sign in makes(values[i], values[j], example.result):
            made = operate(values[i], sign, values[j])
            if made is not None and is_near(made, example.result):
                asked = Asked(example.text, len(values), st.session_state[MADE], (i, j), sign)
                st.session_state[LAST] = asked
                return
    st.session_state[LAST] = None


def _follow(text: str, numbers: list[Number]) -> None:
    """After a change of the text: asks for what a question in it asks for, or else for what the same two places make
    now, where the number was left as it is."""
    linked = QUESTION not in st.session_state and _is_of_link(numbers)  # the number of a link stays
    asked, before = asked_number(text), st.session_state.get(QUESTION)
    st.session_state[QUESTION] = asked
    if asked is not None and asked != before and not linked:
        st.session_state[MADE] = asked.replace(",", "")
        return
    last = st.session_state.get(LAST)
    if last is None or last.text == text or last.count != len(numbers) or st.session_state.get(MADE) != last.made:
        return
    left, right = (numbers[i].value for i in last.pair)
    made = operate(left, last.sign, right)
    if made is not None and made > 0:
        st.session_state[MADE] = _plain(made)


def _is_of_link(numbers: Sequence[Number]) -> bool:
    """Whether the number asked for comes from the link, which leaves it out where it is the one that the page opens on:
    so meant if two of these numbers make it."""
    if MADE in st.query_params or PROBLEM not in st.query_params:
        return MADE in st.query_params
    opening = operand_pairs.examples()[OPENING].result
    return any(makes(a.value, b.value, opening) for a, b in combinations(numbers, 2))


def add_step(step: str, numbers: Sequence[Number]) -> None:
    """Writes a step below the problem and asks for a number that its result makes with another.

    step: such as `15 + 8 = 23`.  numbers: those of the problem before it.
    """
    text = st.session_state[PROBLEM].rstrip() + "\n" + step
    st.session_state[PROBLEM], st.session_state[LAST] = text, None
    known = {_plain(number.value) for number in numbers}
    with_result = made_numbers([*numbers[-1:], *typed_numbers(text)[-1:]])
    fresh = [value for value in map(_plain, with_result) if value not in known]
    if fresh:
        st.session_state[MADE] = fresh[-1]


def lit(example: Example, picked: Collection[int]) -> str:
    """HTML: the problem with its numbers lit.  picked: positions of those that are marked besides."""
    parts, end = [], 0
    for i, number in enumerate(example.numbers):
        start, stop = number.span
        kind = ' class="t-picked"' if i in picked else ""
        parts += [escape(example.text[end:start]), f"<mark{kind}>{escape(example.text[start:stop])}</mark>"]
        end = stop
    return f'<p class="t-problem">{"".join(parts)}{escape(example.text[end:])}</p>'


def notes(example: Example) -> list[str]:
    """What to know of a problem that is not like those of training."""
    found = []
    if len(example.numbers) < FEWEST:
        found.append(f"The models were trained on {FEWEST} to {MOST} numbers; this problem has fewer.")
    if any(char.isalpha() and not char.isascii() for char in example.text):
        found.append("The models read English words; of others they know the numbers alone.")
    if re.search("[\u00bc-\u00be\u2150-\u215e]", example.text):
        found.append("Fractions are read as 1/2, not as \u00bd.")
    if re.search(r"(?<![\w).])[-\u2212]\d", example.text):
        found.append("Signs are not read: \u22125 counts as 5.")
    return found


def _refusal(text: str, numbers: Sequence[Number]) -> InputError | None:
    """Why the problem cannot be answered, or None."""
    if not text.strip():
        return InputError("The problem is empty: type one with at least two numbers.")
    try:
        Example(text, tuple(numbers), 0.0).check()
    except InputError as error:
        return error
    return None


def _value(text: str) -> float:
    """The number asked for.  Raises InputError."""
    try:
        found = value_of(text.strip().lower())
    except ValueError:
        found = None
    if found is not None:
        return found[0]
    numbers = [] if re.search(r"[-\u2212]\s*[\d.]", text) else typed_numbers(text)
    if len(numbers) != 1:
        raise InputError(f"Which two make {text[:20]!r}? Type a number above zero, such as 23.")
    return numbers[0].value


def _plain(value: float) -> str:
    return f"{value:.10g}"


def _choose() -> None:
    if (chip := st.session_state[CHIPS]) is not None:
        st.session_state[MADE] = chip


def _take() -> None:
    row = st.session_state["problem-row"]
    st.session_state[PROBLEM], st.session_state[MADE], st.session_state[LAST] = row.text, _plain(row.result), None
