"""Drawn checkpoints of three tasks and three mechanisms, and examples to ask them about."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.choice_rows import LIMITS, dialogue_row, reading_row
from tests.support.living_checkpoints import LIVING
from tests.support.tiny import make_checkpoint, make_encoder, make_rows
from triattn_core.tasks import TASKS

MECHANISMS = ("bi", "cbi", "tri")
TASK_NAMES = ("pairs", "dialogue", "reading")


@contextmanager
def use_checkpoints(root: Path) -> Iterator[Path]:
    """`<task>-<mechanism>`; texts of dialogues and passages are filtered."""
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    long = {"max_tokens": LIMITS.tokens, "cells": LIMITS.cells}
    for task in TASK_NAMES:
        for seed, mechanism in enumerate(MECHANISMS):
            settings = {} if task == "pairs" else long
            make_checkpoint(root, f"{task}-{mechanism}", mechanism, seed, task=task, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


@contextmanager
def use_checkpoints_and_rows(root: Path) -> Iterator[Path]:
    """As `use_checkpoints`, with `rows.jsonl`: six pairs and a row that cannot be read."""
    with use_checkpoints(root):
        make_rows(root / "rows.jsonl", 6, 4)
        with open(root / "rows.jsonl", "a", encoding="utf-8") as file:
            file.write('{"text_a": "who"}\n')
        yield root


@contextmanager
def use_living_checkpoints(root: Path, mechanisms: tuple[str, ...] = ("bi_joint", "tri")) -> Iterator[Path]:
    """`<task>-<mechanism>` of the living form."""
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    long = {"max_tokens": LIMITS.tokens, "cells": LIMITS.cells}
    for task in TASK_NAMES:
        for seed, mechanism in enumerate(mechanisms):
            settings = {} if task == "pairs" else long
            model = {"mechanism": mechanism, **LIVING}
            make_checkpoint(root, f"{task}-{mechanism}", mechanism, seed, task=task, model=model, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


def examples(task: str) -> list:
    """Two of a task: a dialogue of several turns, a passage of two sentences."""
    draw = random.Random(7)
    if task == "pairs":
        rows = [
            {"text_a": "who play the red car ?", "text_b": "what movie is not big", "label": 0},
            {"text_a": "where watch the film", "text_b": "a small blue browser is not the car ?", "label": 1},
        ]
    elif task == "dialogue":
        dialogues = (dialogue_row(draw, single=False) for _ in range(50))
        rows = [row for row in dialogues if len(row["history"]) > 2][:2]
    else:
        rows = [reading_row(draw) for _ in range(2)]
    return [TASKS[task].Example.from_row(row) for row in rows]
