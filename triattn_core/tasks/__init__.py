"""Tasks: each defines which text is query, key and context, or which texts are encoded separately.

To add one: a file here that implements `task.Task`, and a line in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, cast

from triattn_core.errors import ConfigError, InputError, choices
from triattn_core.tasks import dialogue, inference, pairs, questions, reading, roles, sentences, translation
from triattn_core.tasks.task import ChoiceTask, EncodedTask, InputForm, Task

_MODULES = (
    pairs,
    dialogue,
    reading,
    sentences,
    inference,
    questions,
    roles,
    translation,
)
TASKS: dict[str, Task] = {task.NAME: task for task in _MODULES}
CHOICES: dict[str, ChoiceTask] = {name: cast(ChoiceTask, task) for name, task in TASKS.items() if task.FORM.chooses}
ENCODED: dict[str, EncodedTask] = {name: cast(EncodedTask, task) for name, task in TASKS.items() if not task.FORM.joint}


def form(name: str) -> InputForm | None:
    """The input form of a task; None for an unknown name, as a case or table stored by another version may have."""
    return TASKS[name].FORM if name in TASKS else None


def tasks_of(kind: str) -> tuple[str, ...]:
    """The names of the tasks that checkpoints of a kind are trained on."""
    return tuple(name for name, task in TASKS.items() if kind in task.KINDS)


def first_task(form: InputForm) -> Task:
    """The first task of an input form, in the order of the table: the default where a page or a link names none."""
    return next(task for task in TASKS.values() if task.FORM is form)


def check(task, example, name: str) -> None:
    """Raises InputError if the example belongs to another task than checkpoint `name`, or is not valid."""
    if not isinstance(example, task.Example):
        others = (other.NAME for other in TASKS.values() if type(example) is other.Example)
        raise InputError(f"{name} takes an example of {task.NAME}, got {next(others, type(example).__name__)}")
    example.check()


def as_example(task: str, what: Any) -> Any:
    """Returns an example of a task: from a dict with the fields of its file format, or from its texts alone where it is
    one text or several; an example is returned as it is.

    Raises ConfigError: no such task; DataError, which names the field; InputError where it is none of these.
    """
    if task not in TASKS:
        raise ConfigError(f"no task {task!r}; {choices(task, TASKS)}")
    if isinstance(what, Mapping):
        return TASKS[task].Example.from_row(dict(what), "the example")
    if what is None:
        raise InputError(f"no example given: expected one of {task}, or its fields as a dict")
    if isinstance(what, str) or isinstance(what, Sequence) and all(isinstance(text, str) for text in what):
        return _of_texts(task, [what] if isinstance(what, str) else what)
    if not isinstance(what, tuple(other.Example for other in TASKS.values())):  # of another task: see `check`
        raise InputError(f"expected an example of {task}, or its fields as a dict, got {type(what).__name__}")
    return what


def _of_texts(task: str, texts: Sequence[str]) -> Any:
    """An example of a task that is texts and nothing else.  Raises InputError for another, or another number."""
    needed = [part for part in fields(cast(Any, TASKS[task].Example)) if part.default is MISSING]
    if any(part.type != "str" for part in needed):
        raise InputError(f"an example of {task} is a dict with the fields of its row, as its files have them")
    if len(texts) != len(needed):
        names = ", ".join(part.name for part in needed)
        expected = "one text" if len(needed) == 1 else f"{len(needed)} texts"
        raise InputError(f"an example of {task} is {expected} ({names}), got {len(texts) or 'none'}")
    return TASKS[task].Example(*texts)


def text_task(task: str, what: Any) -> str:
    """Returns the task of a model that reads one text or two: that of sentences where an example, its fields as a dict,
    or what stands for it, is one text."""
    is_row = isinstance(what, Mapping) and "text" in what and "text_a" not in what
    return sentences.NAME if is_row or isinstance(what, sentences.Example | str) else task


def require_option(task, option: int | None, count: int) -> None:
    """Raises InputError if an example with `count` options (or parts of its passage) has no option of this index."""
    if option is not None and not 0 <= option < count:
        passage = task.FORM is InputForm.PASSAGE
        noun = task.WORDS.sides[1] if task.FORM.chooses else "part" if passage else "option"
        raise InputError(f"There is no {noun} {option + 1}: there {f'are {count}' if count > 1 else 'is one'}.")
