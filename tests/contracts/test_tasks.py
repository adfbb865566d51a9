"""Promises that every task keeps, its own examples in hand: walks the tables, so that a new task is asked too."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from triattn_core.tasks import CHOICES, TASKS

EACH = [(name, language) for name, task in TASKS.items() for language in task.LANGUAGES]


@pytest.fixture(params=EACH, ids=lambda one: "-".join(one))
def some(request):
    """A task and its examples of a language."""
    name, language = request.param
    return TASKS[name], TASKS[name].examples(language)


def test_an_example_is_a_row_of_a_file_and_back(some):
    task, examples = some
    assert len(examples) >= 3 and len({one.id for one in examples}) == len(examples)
    for one in examples:
        from_row = getattr(task, "from_file", None) or task.Example.from_row
        back = from_row(json.loads(json.dumps(task.row(one))), "here")
        assert task.texts(back) == task.texts(one) and task.labels(back) == task.labels(one)
        assert getattr(back, "label", None) == getattr(one, "label", None)


def test_a_blank_text_is_refused_in_one_line(some):
    task, examples = some
    for name in task.texts(examples[0]):
        fields = [field for field in vars(examples[0]) if getattr(examples[0], field) == task.texts(examples[0])[name]]
        for field in fields:
            with pytest.raises(Exception, match=r"empty") as raised:
                replace(examples[0], **{field: " "}).check()
            assert "\n" not in str(raised.value)


@pytest.mark.parametrize("task", CHOICES.values(), ids=CHOICES)
def test_what_is_typed_into_boxes_is_the_same_example(task):
    for one in task.examples():
        back = task.from_parts(task.parts(one))
        assert task.options(back) == task.options(one) and list(task.parts(one)) == list(task.WORDS.parts)
        assert task.texts(back, 1) == task.texts(one, 1) and len(task.labels(one)) == len(task.options(one))
        head, below = task.title(one)
        assert head and "\n" not in head + below


@pytest.mark.parametrize("task", CHOICES.values(), ids=CHOICES)
def test_the_best_option_is_the_answer(task):
    one = next(example for example in task.examples() if example.label is not None)
    count = len(task.options(one))
    right = [float(i == one.label) for i in range(count)]
    wrong = [float(i != one.label) for i in range(count)]
    assert task.verdict(one, right)[0] and not task.verdict(one, wrong)[0]
