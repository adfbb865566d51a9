"""Small checkpoints of three tasks and rows for each, and the table that mining makes of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.choice_rows import LIMITS, dialogue_row, reading_row
from tests.support.tiny import make_checkpoint, make_encoder, make_rows
from triattn_core.analysis.mining import sources
from triattn_core.analysis.mining.case_table import CaseTable
from triattn_core.analysis.mining.runs import Run
from triattn_core.checkpoint.bundle import Bundle, load

TRIO = ("bi", "cbi", "tri")


@contextmanager
def use_world(root: Path) -> Iterator[Path]:
    """Drawn checkpoints of three tasks, and a file of rows for each."""
    encoder = root / "checkpoints" / "encoders" / "tiny"
    make_encoder(encoder)
    (encoder / "metrics.json").write_text('{"start": "nothing", "start_had_seen": []}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        long = {"max_tokens": LIMITS.tokens, "cells": LIMITS.cells}
        for task, settings in (("pairs", {}), ("dialogue", long), ("reading", long)):
            for seed, mechanism in enumerate(TRIO):
                make_checkpoint(root, f"{task}-{mechanism}", mechanism, seed, task=task, **settings)
        make_rows(root / "pairs.jsonl", 30, 4)
        draw = random.Random(5)
        for name, row in (("dialogue", lambda: dialogue_row(draw, False)), ("reading", lambda: reading_row(draw))):
            (root / f"{name}.jsonl").write_text("".join(json.dumps(row()) + "\n" for _ in range(9)), "utf-8")
        yield root


def bundles(task: str) -> list[Bundle]:
    """Bi, C-Bi and Tri of a task."""
    return [load(f"{task}-{mechanism}") for mechanism in TRIO]


def mine_world(world: Path, task: str, size: int = 64) -> CaseTable:
    """The table of a task's rows under its checkpoints, computed in batches of this size."""
    run = Run(bundles(task), sources.file_source(world / f"{task}.jsonl"), size=size)
    while run.step():
        pass
    return run.case_table()
