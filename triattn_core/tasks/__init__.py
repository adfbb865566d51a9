"""Tasks: each says which text is query, key and context, or which texts are encoded each on its own.

To add one: a file here with what `task.Task` asks for, and a line in the table.
"""

from __future__ import annotations

from triattn_core.errors import InputError
from triattn_core.tasks import dialogue, inference, pairs, questions, reading, sentences
from triattn_core.tasks.task import ChoiceTask, EncodedTask, InputForm, Task

TASKS: dict[str, Task] = {task.NAME: task for task in (pairs, dialogue, reading, sentences, inference, questions)}
CHOICES: dict[str, ChoiceTask] = {name: task for name, task in TASKS.items() if task.FORM.chooses}
ENCODED: dict[str, EncodedTask] = {name: task for name, task in TASKS.items() if not task.FORM.joint}


def form(name: str) -> InputForm | None:
    """The form in which the texts of a task go in; None for a task that is not in the table, as a stored case or table
    of another version may name."""
    return TASKS[name].FORM if name in TASKS else None


def check(task, example, name: str) -> None:
    """Raises InputError where the example is not one of the task of checkpoint `name`, or cannot be read."""
    if not isinstance(example, task.Example):
        got = type(example).__module__.rpartition(".")[2]
        raise InputError(f"{name} takes an example of {task.NAME}, got {got}")
    example.check()


def chosen(task, option: int | None, of: int) -> None:
    """Raises InputError where an example has no such text to choose, or no such part of its passage; from 0."""
    if option is not None and not 0 <= option < of:
        passage = task.FORM is InputForm.PASSAGE
        what = task.WORDS.sides[1] if task.FORM.chooses else "part" if passage else "option"
        raise InputError(f"There is no {what} {option + 1}: there {f'are {of}' if of > 1 else 'is one'}.")
