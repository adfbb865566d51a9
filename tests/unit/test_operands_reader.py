"""Numbers of a word problem, and GSM8K's annotated steps."""

from __future__ import annotations

import json
import random

import pytest

from tests.oracles import operands as oracle
from triattn_core.errors import DataError, InputError
from triattn_core.tasks.operands import operand_pairs as task
from triattn_core.tasks.operands.example import Example, pairs
from triattn_core.tasks.operands.gsm8k import makes, steps
from triattn_core.tasks.operands.typed_problem import typed_numbers
from triattn_core.tasks.operands.word_numbers import Number, find_numbers, held_by_steps
from triattn_core.text.roles import Limits

PROBLEM = (
    "Rosa\u2019s stall has 3 crates with a dozen pears each, and 1/2 of the 40 plums. She sells twice 1,250 grams "
    "for $4.50, .5 of it on Sunday, and 20% on Monday; it's a one-hour walk."
)


def test_numbers_in_digits_words_fractions_and_percent():
    found = [(number.value, number.kind) for number in find_numbers(PROBLEM)]
    digits, words = "digit", "word"
    assert found == [
        (3.0, digits), (12.0, words), (0.5, digits), (40.0, digits), (2.0, words), (1250.0, digits), (4.5, digits),
        (0.5, digits), (20.0, digits), (1.0, words), (60.0, words),
    ]  # fmt: skip


def test_the_span_of_a_number_is_its_own_characters():
    shown = [PROBLEM[slice(*number.span)] for number in find_numbers(PROBLEM)]
    assert shown == ["3", "dozen", "1/2", "40", "twice", "1,250", "4.50", ".5", "20", "one", "hour"]


def test_words_around_a_number_are_lower_case_and_keep_its_place():
    first, second, *_ = find_numbers(PROBLEM)
    assert first.words == ("rosa", "s", "stall", "has", "#", "crates", "with", "a", "dozen")
    assert second.words == ("3", "crates", "with", "a", "#", "pears", "each", ",", "and")


def test_zero_is_no_number_to_choose():
    assert [number.value for number in find_numbers("From 1:00 PM to 5:00 PM with 0 breaks, 3/0 of it.")] == [1.0, 5.0]


COMPOUNDS = {
    "Twenty-five boys and thirty two girls": [(25, "Twenty-five"), (32, "thirty two")],
    "three hundred and five pens, two thousand three hundred forty-one caps": [
        (305, "three hundred and five"),
        (2341, "two thousand three hundred forty-one"),
    ],
    "a hundred thousand and six, a million": [(100006, "hundred thousand and six"), (1e6, "million")],
    "one hundred and two hundred": [(100, "one hundred"), (200, "two hundred")],
    "between two thousand and three thousand": [(2000, "two thousand"), (3000, "three thousand")],
    "twenty one-dollar bills": [(20, "twenty"), (1, "one")],
    "forty, six; ten (two)": [(40, "forty"), (6, "six"), (10, "ten"), (2, "two")],
    "two dozen of 32 million": [(2, "two"), (12, "dozen"), (32, "32"), (1e6, "million")],
    "half of nineteen hundred.": [(0.5, "half"), (1900, "nineteen hundred")],
}


@pytest.mark.parametrize("text", COMPOUNDS)
def test_several_words_that_are_one_number_are_read_whole_where_a_reader_types(text):
    assert [(n.value, text[slice(*n.span)]) for n in find_numbers(text, whole=True)] == COMPOUNDS[text]
    assert list(typed_numbers(text)) == list(find_numbers(text, whole=True))


def test_a_compound_stands_among_the_words_around_it():
    first, second = find_numbers("She has twenty-five red and 12 blue.", whole=True)
    assert first.words == ("she", "has", "#", "red", "and", "12", "blue")
    assert second.words[:5] == ("twenty", "five", "red", "and", "#")


ANSWER = (
    "The crates hold 3 * 12 = <<3*12=36>>36 pears.\n"
    "With the plums there are 36 + 40=$<<36+40=76>>76 in all.\n"
    "Of these 76 - 36 - 20 = <<76-36-20=20>>20 are left.\n"
    "Each costs 5/2 = <<5/2=2.5>>2.5.\n#### 20"
)
QUESTION = "A stall has 3 crates with a dozen pears each and 40 plums, and 20 of both are sold on 40 stands."


def test_steps_take_their_numbers_from_the_problem_and_from_earlier_results():
    (_, first), (number, second) = steps(QUESTION, ANSWER)
    assert [number.value for number in first.numbers] == [3, 12, 40, 20, 40]
    assert (first.result, first.operation, first.truth) == (36, "*", ((0, 1),))
    assert number == 1
    assert [number.value for number in second.numbers] == [3, 12, 40, 20, 40, 36]
    assert second.numbers[-1].words == ("crates", "hold", "3", "12", "#")
    assert second.truth == ((2, 5), (4, 5))  # every pair of positions that holds the two values


def test_the_text_of_a_step_has_no_annotation_and_ends_before_what_it_makes():
    (_, first), (_, second) = steps(QUESTION, ANSWER)
    assert first.text == f"{QUESTION}\nThe crates hold 3 * 12 = "
    assert "<<" not in second.text and second.text.endswith("there are 36 + 40=$")
    assert second.text[slice(*second.numbers[-1].span)] == "36"


def test_a_step_of_three_numbers_or_of_one_that_is_not_there_is_no_row():
    assert len(list(steps(QUESTION, ANSWER))) == 2


def test_too_few_numbers_are_no_choice():
    assert not list(steps("Ann has 3 pens and 4 more.", "She has 3+4=<<3+4=7>>7 pens."))


def test_an_annotation_without_a_result_names_the_line():
    with pytest.raises(DataError, match=r"rows.jsonl:1: annotation '<<3\+4=x>>'"):
        list(steps("3 and 4", "3+4=<<3+4=x>>7", "rows.jsonl:1"))


def test_values_that_earlier_steps_hold_are_marked():
    (_, _), (_, second) = steps(QUESTION, ANSWER)
    assert held_by_steps(second.numbers) == [True, True, False, False, False, False]


def test_pairs_that_fit_agree_with_the_oracle():
    draw = random.Random(0)
    for _ in range(200):
        values = [draw.choice((2.0, 3.0, 4.0, 0.5, 12.0, 24.0, 7.0, 1.0)) for _ in range(5)]
        result = draw.choice((6.0, 12.0, 3.5, 1.0, 0.25, 24.0))
        example = Example("", tuple(Number(value, "digit") for value in values), result)
        assert list(example.fitting) == sorted(oracle.fits(values, result))


def test_operations_that_make_a_number_are_named():
    assert makes(2.0, 2.0, 4.0) == ("+", "*")
    assert makes(3.0, 24.0, 8.0) == ("/",)
    assert makes(24.0, 3.0, 21.0) == ("-",)


def test_gsm8k_and_prepared_rows_give_equal_examples(tmp_path):
    own, prepared = tmp_path / "own.jsonl", tmp_path / "prepared.jsonl"
    own.write_text(json.dumps({"question": QUESTION, "answer": ANSWER}) + "\n", "utf-8")
    examples = list(task.read(own))
    assert [example.id for example in examples] == ["0.0", "0.1"]
    prepared.write_text("".join(json.dumps(task.row(example)) + "\n" for example in examples), "utf-8")
    for example, again in zip(examples, task.read(prepared), strict=True):
        assert again.result == example.result and again.truth == example.truth
        seen = [(number.value, number.kind, number.words) for number in example.numbers]
        assert [(number.value, number.kind, number.words) for number in again.numbers] == seen


def test_a_typed_problem_is_read_and_written_alike():
    for example in task.examples():
        example.check()
        assert example.truth and set(example.truth) <= set(
            oracle.fits([n.value for n in example.numbers], example.result)
        )
        assert Example.from_row(task.row(example)).numbers == example.numbers


@pytest.mark.parametrize("row, field", [
    ({"problem": "3 and 4", "makes": "7"}, "makes"),
    ({"problem": "3 and 4", "makes": 7, "truth": [[0, 0]]}, "truth"),
    ({"problem": "3 and 4", "makes": 7, "truth": [[0, 2]]}, "truth"),
    ({"problem": "3 and 4", "makes": float("nan")}, "makes"),
    ({"numbers": [float("inf")], "kinds": ["digit"], "ctx": [["#"]], "result": 7}, "value"),
    ({"numbers": [3.0], "kinds": ["digit"], "result": 7}, "ctx"),
    ({"numbers": [3.0], "kinds": ["other"], "ctx": [["#"]], "result": 7}, "kind"),
])  # fmt: skip
def test_a_bad_row_names_its_field(row, field):
    with pytest.raises(DataError, match=field):
        Example.from_row(row)


def test_a_file_of_problems_without_annotations_says_what_is_missing(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question": "3 crates of 24?", "answer": "3 * 24 = 72\\n#### 72"}\n')
    with pytest.raises(DataError, match=r"rows.jsonl: no answer has an annotated step of two numbers"):
        list(task.read(path))


def test_one_number_is_no_choice_and_seventeen_are_too_many():
    for text in ("Only 3 here.", " and ".join(map(str, range(1, 18)))):
        with pytest.raises(InputError, match="from 2 to 16"):
            Example(text, tuple(find_numbers(text)), 7.0).check()


def test_tokens_stand_where_their_text_says():
    (example, *_) = task.examples()
    ((roles,),) = task.roles([example], None, Limits(16))
    text = task.texts(example)["problem"]
    assert [text[start:end] for start, end in roles.key.spans] == list(roles.key.strings) == ["3", "24", "15", "8"]
    prepared = Example.from_row({
        "numbers": [3.0, 24.0], "kinds": ["digit", "digit"], "ctx": [["has", "#", "crates"], ["of", "#", "eggs"]],
        "result": 72.0,
    })  # fmt: skip
    ((roles,),) = task.roles([prepared], None, Limits(16))
    text = task.texts(prepared)["problem"]
    assert [text[start:end] for start, end in roles.key.spans] == ["3", "24"]


def test_metrics_part_rows_by_what_decides():
    problem = "2 and 12 and 10 and 12 and 5"
    numbers = tuple(find_numbers(problem))
    example = Example(problem, numbers, 24.0, "*", ((0, 1), (0, 3)))
    places = pairs(5)
    sure = [1.0 if pair == (1, 3) else 0.0 for pair in places]  # 12 + 12 makes it too, and is not annotated
    right = [0.75 if pair == (0, 3) else 0.25 * (pair == (1, 3)) for pair in places]
    verdicts = [task.verdict(example, sure), task.verdict(example, right)]
    assert verdicts == [(False, True, 0.0, False, "*", None), (True, True, 0.75, False, "*", None)]
    assert task.metrics(verdicts) == {
        "right_pair": 50.0, "fits": 100.0, "weight": 37.5, "right_words_decide": 50.0, "right_product": 50.0,
    }  # fmt: skip
    assert task.baseline([example]) == {"chance": 20.0, "even_fit": 66.67}
