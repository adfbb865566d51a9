"""Problems that a reader types: their numbers, steps below them, and what two of them make."""

from __future__ import annotations

from itertools import combinations

from triattn_core.tasks.operands.example import Example
from triattn_core.tasks.operands.gsm8k import makes
from triattn_core.tasks.operands.operand_pairs import row
from triattn_core.tasks.operands.typed_problem import OFFERED, asked_number, equation, made_numbers, typed_numbers
from triattn_core.tasks.operands.word_numbers import find_numbers

PROBLEM = "A farmer has 3 crates of 24 eggs and\nsells 15 of them on Monday and 8 on Tuesday."


def test_of_a_step_the_result_alone_is_a_number_and_stands_in_its_place():
    text = f"{PROBLEM}\n15 + 8 = 23 eggs of 60\nnow: 3 x 24 = 72"
    numbers = typed_numbers(text)
    assert [(number.value, number.kind) for number in numbers[4:]] == [(23.0, "result"), (72.0, "result")]
    assert [text[slice(*number.span)] for number in numbers] == ["3", "24", "15", "8", "23", "72"]
    assert numbers[4].words == ("15", "8", "#") and numbers[5].words == (":", "3", "x", "24", "#")


def test_a_problem_without_steps_is_read_as_before_also_over_lines():
    assert typed_numbers(PROBLEM) == list(find_numbers(PROBLEM))
    assert typed_numbers("") == []


def test_an_equals_sign_in_a_sentence_makes_no_step_and_a_comma_belongs_to_thousands_alone():
    for text, values in {
        "3 pens cost 5 dollars and 7 pens cost 9, so x = 4 and y is 6.": [3, 5, 7, 9, 4, 6],
        "a rate = 12 % of 40": [12, 40],
        "5 = ": [5],
        "1,2,3,4": [1, 2, 3, 4],
        "1,234,567 and 12,34 and 1,2345": [1234567, 12, 34, 1, 2345],
        "4 boxes of $2.50 each: 4 * $2.50 = $10": [10],
        "3 + 4 + 5 = 12 apples of 60": [12],
        "6 \N{DIVISION SIGN} 2=3": [3],
    }.items():
        found = typed_numbers(text)
        assert [number.value for number in found] == values, text
        assert all(text[slice(*number.span)][0].isdigit() for number in found), text


def test_what_a_question_asks_for_is_no_number_of_the_problem():
    for question, asked in (
        ("Which two numbers make 72?", "72"),
        ("which two of them makes 1,200", "1,200"),
        ("What two numbers make 72 eggs?", "72"),
        ("Which 2 make $72!", "72"),
    ):
        for text in (f"{PROBLEM} {question}", f"{PROBLEM}\n15 + 8 = 23\n{question}\n"):
            assert asked_number(text) == asked
            found, others = (
                [(n.value, n.span) for n in typed_numbers(read)] for read in (text, text.replace(question, ""))
            )
            assert found == others
    first = "Which two numbers make 72? 3 crates of 24"
    assert asked_number(first) == "72" and [number.value for number in typed_numbers(first)] == [3, 24]
    assert asked_number(PROBLEM) is None and asked_number("Two of the 3 make 5.") is None
    assert [number.value for number in typed_numbers("Two of the 3 make 5.")] == [2, 3, 5]


def test_made_numbers_are_all_that_two_make_and_whole_where_there_are_such():
    values = (3.0, 24.0, 15.0, 8.0)
    expected = set()
    for a, b in combinations(values, 2):
        expected |= {v for v in (a + b, abs(a - b), a * b, a / b, b / a) if v > 0 and v == int(v)}
    assert made_numbers(typed_numbers(PROBLEM)) == sorted(expected)
    assert made_numbers(typed_numbers("1/2 of .3")) == [0.15, 0.2, 0.6, 0.8, 1.666667]
    assert len(made_numbers(typed_numbers(" ".join(map(str, range(11, 27)))))) == OFFERED


def test_an_equation_makes_the_number_or_there_is_none():
    assert equation(15.0, 24.0, 9.0) == equation(24.0, 15.0, 9.0) == "24 \N{MINUS SIGN} 15 = 9"
    assert equation(4.0, 0.5, 8.0) == "4 \N{DIVISION SIGN} 0.5 = 8" and equation(3.0, 24.0, 23.0) == ""
    for a, b in combinations((3.0, 24.0, 15.0, 8.0), 2):
        for value in (23.0, 72.0, 9.0, 16.0, 5.0):
            assert bool(equation(a, b, value)) == bool(makes(a, b, value))


def test_a_typed_problem_with_steps_comes_back_from_its_row():
    example = Example.from_row({"problem": f"{PROBLEM}\n15 + 8 = 23", "makes": 49})
    assert [number.value for number in example.numbers] == [3, 24, 15, 8, 23]
    assert Example.from_row(row(example)) == example
