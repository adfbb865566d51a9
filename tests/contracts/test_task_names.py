"""What a task needs depends on its form or on a field of the task, never on its name: else a new task is left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from triattn_core.tasks import TASKS

ROOT = Path(__file__).parents[2]
TABLES = (
    ROOT / "triattn_core" / "tasks",
    ROOT / "triattn_core" / "inference" / "stored_traces" / "__main__.py",  # which checkpoints have stored traces
)


def names_of(node: ast.AST | None) -> set[str]:
    """The task names that a constant, a tuple, list or set of constants holds, or a task's module gives as NAME."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return set().union(*map(names_of, node.elts))
    if isinstance(node, ast.Attribute) and node.attr == "NAME" and isinstance(node.value, ast.Name):
        return {node.value.id} & set(TASKS)
    return {node.value} & set(TASKS) if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def dispatches(source: str) -> Iterator[str]:
    """The expressions that compare a task with a name, or have a value for each of some names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            others = [operand for operand in operands if not names_of(operand)]
            if len(others) < len(operands) and any("task" in ast.unparse(operand).lower() for operand in others):
                yield ast.unparse(node)
        elif isinstance(node, ast.Dict) and node.keys and all(map(names_of, node.keys)):
            yield ast.unparse(node)


def test_nothing_depends_on_the_name_of_a_task() -> None:
    files = [*(ROOT / "triattn_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    sources = {path: path.read_text("utf-8") for path in files if not any(map(path.is_relative_to, TABLES))}
    assert len(sources) > 100
    assert {str(path): seen for path, source in sources.items() if (seen := list(dispatches(source)))} == {}


@pytest.mark.parametrize(
    "source",
    (
        'self.task == "sentences"',
        '"pairs" != entry.config["task"]',
        'task.NAME in ("dialogue", "reading")',
        "task == questions.NAME",
        'LONG = {"dialogue": 128, "reading": 160}',
        "{pairs.NAME: 1}",
    ),
)
def test_a_dispatch_by_name_is_seen(source: str) -> None:
    assert len(list(dispatches(source))) == 1


@pytest.mark.parametrize(
    "source", ('unit == "sentences"', "task == other", 'task == "laboratory"', '{"pairs": 1, "cells": 2}', "{**cells}")
)
def test_other_uses_of_the_same_words_are_none(source: str) -> None:
    assert list(dispatches(source)) == []
