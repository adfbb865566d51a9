"""Rows of dialogues and of reading comprehension: what is refused, what is read back, and their metrics."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.unit.test_choices import TALK, TEXT
from triattn_core.errors import DataError, InputError
from triattn_core.tasks import TASKS, dialogue, reading


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (replace(TALK, history=()), "The dialogue is empty"),
        (replace(TALK, history=("who", " ")), "The last turn is empty"),
        (replace(TALK, candidates=()), "No candidate is given"),
        (replace(TALK, candidates=("a", "\n")), "Candidate 2 is empty"),
        (replace(TALK, candidates=("a",) * 101), "101 candidates are too many: at most 100"),
        (replace(TEXT, passage=""), "The passage is empty"),
        (replace(TEXT, question=" "), "The question is empty"),
        (replace(TEXT, options=("a", "")), "Option 2 is empty"),
        (replace(TEXT, options=("a",)), "One option is no choice"),
        (replace(TEXT, options=("a",) * 27), "27 options are too many"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(example, message):
    with pytest.raises(InputError, match=message) as caught:
        example.check()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("task", "row", "message"),
    [
        ("dialogue", {"history": "a", "response": "b"}, "field 'history' must be a list of texts"),
        ("dialogue", {"history": ["a"], "response": 3}, "field 'response' must be text"),
        ("dialogue", {"history": ["a"]}, "field 'candidates' is absent; there are history"),
        ("dialogue", {"history": ["a"], "candidates": ["b", "c"], "label": 2}, "from 0|0 or 1"),
        ("dialogue", {"history": ["a"], "response": "b", "speakers": ["x"]}, "field 'speakers' must have"),
        ("reading", {"passage": "a", "question": "b", "options": ["c", 1]}, "field 'options' must be a list"),
        ("reading", {"passage": "a", "question": "b", "options": ["c", "d"], "answer": "E"}, "field 'answer' must be"),
        ("reading", {"question": "b", "options": ["c", "d"]}, "field 'passage' is absent; there are question, options"),
    ],
)
def test_a_bad_row_is_refused_with_file_line_and_field(tmp_path, task, row, message):
    path = tmp_path / "rows.jsonl"
    good = TASKS[task].row({"dialogue": TALK, "reading": TEXT}[task])
    path.write_text(json.dumps(good) + "\n" + json.dumps(row) + "\n", "utf-8")
    with pytest.raises(DataError, match=message) as caught:
        list(TASKS[task].read(path))
    assert f"{path}:2" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("task", "example"), [(dialogue, TALK), (reading, TEXT)])
def test_a_row_is_what_it_was_read_from(tmp_path, task, example):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(task.row(example)) + "\n", "utf-8")
    assert list(task.read(path)) == [example]


def test_recall_and_accuracy():
    judged = [dialogue.verdict(replace(TALK, candidates=tuple("abcdefghij"), label=label), p) for label, p in (
        (0, [0.5, *[0.05] * 9]),
        (3, [0.3, 0.1, 0.1, 0.2, *[0.01] * 6]),
        (9, [0.1] * 10),
    )]  # fmt: skip
    assert judged == [(True, 1, 10), (False, 2, 10), (False, 10, 10)]
    assert dialogue.metrics(judged) == {"R10@1": 33.33, "R10@2": 66.67, "R10@5": 66.67}
    single = dialogue.Example(("a",), ("b",), 1)
    assert dialogue.metrics([dialogue.verdict(single, [0.4, 0.6]), dialogue.verdict(single, [0.7, 0.3])]) == {
        "accuracy": 50.0
    }
    levels = [reading.verdict(replace(TEXT, level=level), p) for level, p in (
        ("middle", [0.1, 0.1, 0.8]), ("middle", [0.8, 0.1, 0.1]), ("high", [0.0, 0.0, 1.0])
    )]  # fmt: skip
    assert reading.metrics(levels) == {"accuracy": 66.67, "accuracy_high": 100.0, "accuracy_middle": 50.0}
    assert dialogue.baseline([TALK, single]) == {"chance": 50.0}
    assert reading.baseline([TEXT]) == {"chance": 33.33}
