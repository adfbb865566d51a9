"""Untrained checkpoints of all tasks with stored case tables, and the file of rows that the tables are of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import choices_checkpoints
from triattn_core.analysis.mining import sources
from triattn_core.analysis.mining.runs import Run
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.tasks import pairs

NAMES = [f"quora-{mechanism}-additive" for mechanism in ("bi", "cbi", "tri")]


def rows(count: int) -> bytes:
    """The first of the project's pairs as JSON Lines, with ids of their own."""
    lines = [json.dumps(pairs.row(pair) | {"id": f"n-{i}"}) for i, pair in enumerate(pairs.examples("en")[:count])]
    return "".join(line + "\n" for line in lines).encode()


ROWS = rows(20) + b"\n"  # a file that is not among our own


def make_checkpoints(root: Path) -> Path:
    """The folder of checkpoints, with a table of all three of NAMES, one of the first two, and a broken one."""
    choices_checkpoints.make_checkpoints(root)
    tables = root / "results" / "cases"
    tables.mkdir(parents=True)
    (tables / "broken.parquet").write_bytes(b"PAR1 no table")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(root))
        for where, names in {"far": NAMES, "near": NAMES[:2]}.items():
            run = Run([load(name, "cpu") for name in names], sources.uploaded_source(f"{where}/test.jsonl", ROWS))
            while run.step():
                pass
            run.case_table().save(tables / f"{where}.parquet")
    return root
