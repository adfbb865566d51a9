"""Rows from a Parquet file: the same examples as from JSON Lines, read in batches, bad rows set aside."""

from __future__ import annotations

import json
from datetime import date

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.evaluate_world import use_world
from triattn_core.__main__ import main
from triattn_core.analysis.mining import parquet_rows, sources
from triattn_core.errors import DataError, TruncationError
from triattn_core.importers.text_rows import read_texts
from triattn_core.scale import row_files

TASKS = ("pairs", "dialogue", "reading", "questions", "inference", "sentences")


@pytest.mark.parametrize("task", TASKS)
def test_the_examples_of_each_task_are_those_of_json_lines(task, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_rows, "BATCH", 3)
    own = sources.example_source(task, "en")
    rows = [row for _, _, row in own.rows(task)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    source = sources.file_source(tmp_path / "rows.parquet")
    assert source.lines == source.count(task) == len(rows) > 3
    expected = [example for _, example in sources.read_examples(task, own)]
    assert list(sources.read_examples(task, source)) == list(enumerate(expected, 1))


def test_a_bad_row_has_its_number_and_pandas_may_leave_labels_out(tmp_path):
    table = pd.DataFrame({"text_a": ["a", None, "c", " "], "text_b": ["w", "x", "y", "z"], "label": [1, 0, None, 1]})
    table.assign(day=date(2026, 1, 1), noise=[b"x"] * 4).to_parquet(tmp_path / "rows.parquet")
    source = sources.file_source(tmp_path / "rows.parquet")
    first, second, third, fourth = (example for _, example in sources.read_examples("pairs", source))
    assert (first.label, third.label) == (1, None)
    assert f"{source.name}:2: field 'text_a'" in str(second) and f"{source.name}:4: " in str(fourth)
    assert isinstance(second, DataError) and isinstance(fourth, DataError)
    assert row_files.write_rows(source, "pairs", tmp_path / "in") == (4, 4)
    assert [row.texts for _, row in read_texts(source) if not isinstance(row, DataError)] == [("a", "w"), ("c", "y")]


def test_a_text_that_is_not_utf_8_costs_no_other_row(tmp_path):
    bad = pa.array([b"a", b"\xff", b"c"]).view(pa.string())
    pq.write_table(pa.table({"text_a": bad, "text_b": ["x"] * 3}), tmp_path / "rows.parquet")
    read = list(sources.read_examples("pairs", sources.file_source(tmp_path / "rows.parquet")))
    assert [example.text_a for line, example in read if line != 2] == ["a", "c"]
    assert str(read[1][1]).endswith("rows.parquet:2: not UTF-8 text")


def test_a_damaged_file_is_read_as_far_as_it_goes(tmp_path):
    rows = pa.table({"text_a": ["a"] * 50, "text_b": ["b"] * 50})
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=10, compression="none", use_dictionary=False)
    content = bytearray((tmp_path / "rows.parquet").read_bytes())
    start = pq.read_metadata(tmp_path / "rows.parquet").row_group(3).column(0).data_page_offset
    content[start : start + 20] = bytes(20)
    (tmp_path / "rows.parquet").write_bytes(content)
    read = list(sources.read_examples("pairs", sources.file_source(tmp_path / "rows.parquet")))
    assert len(read) == 31 and isinstance(read[-1][1], TruncationError)
    (tmp_path / "rows.parquet").write_bytes(b"not parquet at all")
    ((line, error),) = sources.read_examples("pairs", sources.file_source(tmp_path / "rows.parquet"))
    assert line == 1 and isinstance(error, TruncationError) and "\n" not in str(error)


def test_commands_take_it(tmp_path, capsys):
    with use_world(tmp_path) as world:
        rows = [json.loads(line) for line in (world / "rows.jsonl").read_text("utf-8").splitlines()]
        pq.write_table(pa.Table.from_pylist([*rows, {"text_a": "who"}]), world / "rows.parquet")
        printed = []
        for name in ("rows.jsonl", "rows.parquet"):
            assert main(["evaluate", "bi", "tri", str(world / name), "--json"]) == 0
            printed.append(json.loads(capsys.readouterr().out))
        assert printed[1].pop("aside") == 1 and printed[0] == printed[1]
        tables = []
        for name in ("rows.jsonl", "rows.parquet"):
            assert main(["cases", "bi", "tri", str(world / name), "--out", str(world / "cases.parquet")]) == 0
            tables.append(pd.read_parquet(world / "cases.parquet"))
        pd.testing.assert_frame_equal(*tables, atol=2e-4)
        assert "rows.parquet:76: field 'text_b'" in capsys.readouterr().out
