"""Tasks: each says which text is query, key and context, or which texts are encoded each on its own.

To add one: a file here, a line in the table.
"""

from __future__ import annotations

from triattn_core.errors import InputError
from triattn_core.tasks import dialogue, inference, pairs, questions, reading, sentences

TASKS = {task.NAME: task for task in (pairs, dialogue, reading, sentences, inference, questions)}
CHOICES = {name: task for name, task in TASKS.items() if hasattr(task, "WORDS")}  # those that choose among texts


def check(task, example, name: str) -> None:
    """Raises InputError where the example is not one of the task of checkpoint `name`, or cannot be read."""
    if not isinstance(example, task.Example):
        got = type(example).__module__.rpartition(".")[2]
        raise InputError(f"{name} takes an example of {task.NAME}, got {got}")
    example.check()


def chosen(task, option: int | None, of: int) -> None:
    """Raises InputError where an example has no such text to choose, or no such part of its passage; from 0."""
    if option is not None and not 0 <= option < of:
        what = task.WORDS.sides[1] if task.NAME in CHOICES else "part" if task is questions else "option"
        raise InputError(f"There is no {what} {option + 1}: there {f'are {of}' if of > 1 else 'is one'}.")
