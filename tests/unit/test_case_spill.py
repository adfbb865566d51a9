"""Cases in one process go to a file as they come: the table is that of a run in memory, and little of it is held."""

from __future__ import annotations

import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.analysis_checkpoints import use_checkpoints
from tests.support.tiny import make_rows
from triattn_core.__main__ import main
from triattn_core.analysis.mining import case_spill, case_table, miner, sources
from triattn_core.analysis.mining.case_spill import CaseSpill
from triattn_core.analysis.mining.runs import Run
from triattn_core.checkpoint.bundle import load

TYPES = {"row": pa.int32(), "id": pa.string()}
NAMES = ["pairs-bi", "pairs-tri"]


@pytest.fixture
def small(monkeypatch):
    """Windows of 8 rows, pieces of 6."""
    for module, name, size in ((case_spill, "WINDOW", 8), (miner, "WINDOW", 8), (case_spill, "GROUP", 6)):
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(case_table, "GROUP", 6)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        make_rows(root / "rows.jsonl", 60, 4)
        yield root


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_come_in_any_order_within_windows_come_back_in_that_of_the_file(seed, tmp_path, small):
    draw = random.Random(seed)
    lines = sorted(draw.sample(range(1, 400), draw.randrange(90)))
    spill, most = CaseSpill(tmp_path / "x.parquet", tmp_path / "x.parquet", TYPES), 0
    for start in range(0, len(lines), 8):
        window = draw.sample(lines[start : start + 8], len(lines[start : start + 8]))
        while window:
            batch, window = window[: (size := draw.randrange(4))], window[size:]
            spill.append(pd.DataFrame({"row": pd.Series(batch, dtype="int32"), "id": [str(line) for line in batch]}))
            most = max(most, spill.held)
    spill.finish()
    spill.finish()
    pieces = list(spill.tables())
    assert [line for piece in pieces for line in piece["row"].to_pylist()] == lines and spill.rows == len(lines)
    assert all(len(piece) == 6 for piece in pieces[:-1]) and most < 6 + 8 + 3
    assert len(spill.case_rows()) == len(lines)


@pytest.mark.parametrize("out", ["table.parquet", "folder"])
def test_the_command_stores_the_table_of_a_run_in_memory(out, world, tmp_path, monkeypatch, small):
    run = Run([load(name) for name in NAMES], sources.file_source(world / "rows.jsonl"))
    while run.step():
        pass
    run.case_table().save(tmp_path / "expected.parquet")
    held = []
    append = CaseSpill.append
    monkeypatch.setattr(CaseSpill, "append", lambda spill, table: (append(spill, table), held.append(spill.held)))
    assert main(["cases", *NAMES, str(world / "rows.jsonl"), "--out", str(tmp_path / out)]) == 0
    stored = tmp_path / out if out.endswith(".parquet") else tmp_path / out / "part-00000.parquet"
    expected, file = pq.ParquetFile(tmp_path / "expected.parquet"), pq.ParquetFile(stored)
    assert file.read().equals(expected.read()) and file.num_row_groups == expected.num_row_groups == 10
    assert len(held) > 5 and max(held) < 30
    assert sorted(path.name for path in tmp_path.iterdir()) == ["expected.parquet", out] or out == "folder"
    assert not list(tmp_path.glob(".triattn-*"))


def test_a_disk_that_is_full_is_one_line(world, tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CaseSpill, "append", fail)
    assert main(["cases", *NAMES, str(world / "rows.jsonl"), "--out", str(tmp_path / "table.parquet")]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "triattn: No space left on device"
    assert list(tmp_path.iterdir()) == []
