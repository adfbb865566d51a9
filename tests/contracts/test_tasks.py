"""Promises that every task keeps, its own examples in hand: walks the tables, so that a new task is asked too."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from inspect import signature
from types import SimpleNamespace

import pytest

from triattn_core.errors import InputError
from triattn_core.tasks import CHOICES, ENCODED, TASKS, InputForm, check, form
from triattn_core.tasks.task import ChoiceTask, EncodedTask, PairTask, Task, WrittenTask

EACH = [(name, language) for name, task in TASKS.items() for language in task.LANGUAGES]


@pytest.fixture(params=EACH, ids=lambda one: "-".join(one))
def some(request):
    """A task and its examples of a language."""
    name, language = request.param
    return TASKS[name], TASKS[name].examples(language)


def kinds(task) -> tuple:
    """The protocols that a task keeps, from its form."""
    return {
        InputForm.PAIR: (Task, PairTask),
        InputForm.SENTENCES: (Task, EncodedTask),
        InputForm.CANDIDATES: (Task, WrittenTask, ChoiceTask),
        InputForm.OPTIONS: (Task, WrittenTask, ChoiceTask),
        InputForm.WORDS: (Task, EncodedTask),
        InputForm.TRANSLATION: (Task, EncodedTask),
        InputForm.PASSAGE: (Task, WrittenTask, EncodedTask),
    }[task.FORM]


def lacks(task) -> list[str]:
    """The names of its protocols that a task does not have, and the functions that take something else."""
    missing = []
    for kind in kinds(task):
        names = {*kind.__annotations__, *(name for name in vars(kind) if not name.startswith("_"))}
        missing += [name for name in names if not hasattr(task, name)]
        for name in names - set(missing):
            if callable(asked := vars(kind).get(name)):
                wants = [parameter for parameter in signature(asked).parameters if parameter != "self"]
                takes = list(signature(getattr(task, name)).parameters.values())
                more = [one.name for one in takes[len(wants) :] if one.default is one.empty]
                missing += [name] * (len(takes) < len(wants) or bool(more))
    return missing


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_has_what_its_form_asks_for(task):
    assert lacks(task) == []
    assert form(task.NAME) is task.FORM and TASKS[task.NAME] is task
    assert is_dataclass(task.Example) and task.Example.__dataclass_params__.frozen
    assert {"label", "id"} <= {field.name for field in fields(task.Example)} | set(vars(task.Example))
    assert (task.NAME in CHOICES) == task.FORM.chooses and (task.NAME in ENCODED) != task.FORM.joint
    first = task.examples()[0]
    check(task, first, "a checkpoint")
    with pytest.raises(InputError, match="takes an example of"):
        check(task, SimpleNamespace(), "a checkpoint")
    if task.FORM is InputForm.PAIR:
        assert task.texts(first) == {"a": first.text_a, "b": first.text_b} and task.labels(first) == task.LABELS
    if not task.FORM.joint:
        assert set(task.texts(first)) <= set(task.TEXTS)


@pytest.mark.parametrize("name", ["NAME", "FORM", "read", "roles", "verdict", "row"])
def test_the_check_of_a_task_can_fail(name):
    """Twin: a task without one of its names, or with a function that takes something else, is seen."""
    task = {key: value for key, value in vars(TASKS["pairs"]).items() if not key.startswith("_")}
    assert lacks(SimpleNamespace(**task)) == []
    if name != "FORM":
        assert name in lacks(SimpleNamespace(**{key: value for key, value in task.items() if key != name}))
    if callable(task[name]):
        assert name in lacks(SimpleNamespace(**task | {name: lambda: None}))


def test_a_task_that_is_not_in_the_table_has_no_form():
    assert form("a task of another version") is None


def test_an_example_is_a_row_of_a_file_and_back(some):
    task, examples = some
    assert len(examples) >= 3 and len({one.id for one in examples}) == len(examples)
    for example in examples:
        from_row = getattr(task, "from_file", None) or task.Example.from_row
        back = from_row(json.loads(json.dumps(task.row(example))), "here")
        assert task.texts(back) == task.texts(example) and task.labels(back) == task.labels(example)
        assert getattr(back, "label", None) == getattr(example, "label", None)


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
    for example in task.examples():
        back = task.from_parts(task.parts(example))
        assert task.options(back) == task.options(example) and list(task.parts(example)) == list(task.WORDS.parts)
        assert task.texts(back, 1) == task.texts(example, 1) and len(task.labels(example)) == len(task.options(example))
        head, below = task.title(example)
        assert head and "\n" not in head + below


@pytest.mark.parametrize("task", CHOICES.values(), ids=CHOICES)
def test_the_best_option_is_the_answer(task):
    example = next(example for example in task.examples() if example.label is not None)
    count = len(task.options(example))
    right = [float(i == example.label) for i in range(count)]
    wrong = [float(i != example.label) for i in range(count)]
    assert task.verdict(example, right)[0] and not task.verdict(example, wrong)[0]
