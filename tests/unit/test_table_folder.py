"""Tables as folders: parts with one schema and a manifest, whole or not at all, and read by what reads tables."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.analysis_checkpoints import use_checkpoints_and_rows
from triattn_core.__main__ import main
from triattn_core.analysis.mining import case_table, sources, table_folder
from triattn_core.analysis.mining.folder_path import out_path
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import DataError


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_checkpoints_and_rows(tmp_path_factory.mktemp("world")) as root:
        yield root


def write(out: Path, rows: list[int]) -> None:
    tables = [pa.table({"row": rows[:3]}), pa.table({"row": rows[3:]})]
    table_folder.write_folder(
        out, tables, lambda file, part: pq.write_table(pa.concat_tables(part), file), {"rows": len(rows)}
    )


def test_what_is_a_folder(tmp_path):
    (tmp_path / "old.parquet").mkdir()
    (tmp_path / "file").touch()
    names = {"new": True, "new.parquet": False, "old.parquet": True, "file": False}
    assert {name: table_folder.is_folder(tmp_path / name) for name in names} == names
    assert not table_folder.is_folder(Path("/dev/stdout"))
    assert table_folder.is_folder(out_path(f"{tmp_path}/new.parquet/"))
    with pytest.raises(DataError, match=r"file: a file; name a new folder"):
        table_folder.require_place(out_path(f"{tmp_path}/file/"))
    table_folder.require_place(out_path(f"{tmp_path}/new.parquet/"))


def test_the_parts_hold_each_row_once_in_order_and_replace_an_earlier_table(tmp_path, monkeypatch):
    monkeypatch.setattr(table_folder, "PART", 2)
    for count in (7, 4, 0):
        write(tmp_path / "table", list(range(count)))
        manifest = json.loads((tmp_path / "table" / "_manifest.json").read_text("utf-8"))
        files = [tmp_path / "table" / part["name"] for part in manifest["parts"]]
        assert sorted(tmp_path.glob("table/*.parquet")) == files and len(files) == max(1, -(-count // 2))
        tables = [pq.read_table(file) for file in files]
        assert [len(table) for table in tables] == [part["rows"] for part in manifest["parts"]]
        assert pa.concat_tables(tables)["row"].to_pylist() == list(range(count))
    assert [entry.name for entry in tmp_path.iterdir()] == ["table"]


def test_a_folder_that_is_not_finished_leaves_the_earlier_one(tmp_path):
    write(tmp_path / "table", [1, 2, 3, 4])

    def fail(file, part):
        file.touch()
        raise RuntimeError("it broke")

    with pytest.raises(RuntimeError):
        table_folder.write_folder(tmp_path / "table", [pa.table({"row": [9]})], fail, {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["table"]
    assert pq.read_table(tmp_path / "table" / "part-00000.parquet")["row"].to_pylist() == [1, 2, 3, 4]


@pytest.mark.parametrize("error", [OSError(13, "Permission denied"), KeyboardInterrupt()])
def test_the_earlier_table_is_put_back_where_the_new_one_cannot_take_its_place(tmp_path, monkeypatch, error):
    write(tmp_path / "table", [1, 2, 3, 4])
    rename = Path.rename

    def refuse(path, target):
        if path.suffix == ".part":
            raise error
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(DataError if isinstance(error, OSError) else KeyboardInterrupt):
        write(tmp_path / "table", [9])
    assert [entry.name for entry in tmp_path.iterdir()] == ["table"]
    assert pd.read_parquet(tmp_path / "table")["row"].to_list() == [1, 2, 3, 4]


def test_a_folder_of_others_is_refused_before_any_work(world, tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")
    with pytest.raises(DataError, match="holds other files"):
        table_folder.require_place(tmp_path / "thesis")
    assert main(["context", "pairs-tri", str(world / "rows.jsonl"), "--out", str(tmp_path / "thesis")]) == 1
    assert "holds other files" in capsys.readouterr().err
    with pytest.raises(DataError, match="no such folder"):
        table_folder.require_place(tmp_path / "none" / "table")


@pytest.mark.parametrize("command", ["context", "heads", pytest.param("faithful", marks=pytest.mark.slow)])
def test_a_command_stores_a_folder_with_the_rows_of_its_file(world, tmp_path, monkeypatch, command):
    monkeypatch.setattr(table_folder, "PART", 5)
    begin = [command, "pairs-tri", str(world / "rows.jsonl"), "--out"]
    assert main([*begin, str(tmp_path / "table.parquet")]) == 0
    assert main([*begin, f"{tmp_path}/folder.parquet/"]) == 0
    (tmp_path / "folder.parquet").rename(tmp_path / "table")
    expected = pd.read_parquet(tmp_path / "table.parquet")
    stored = pd.read_parquet(tmp_path / "table")
    pd.testing.assert_frame_equal(stored, expected, atol=1e-6)
    manifest = json.loads((tmp_path / "table" / "_manifest.json").read_text("utf-8"))
    assert (manifest["rows"], manifest["aside"], manifest["whole"]) == (6, 1, True)
    assert manifest["sha256"] == sources.file_source(world / "rows.jsonl").sha256
    assert manifest["checkpoints"] == {"pairs-tri": load("pairs-tri").digest} and "torch" in manifest["versions"]
    assert manifest["command"].startswith(f"triattn {command} ") and "rows.jsonl:7" in manifest["complaints"][0]
    files = [tmp_path / "table" / part["name"] for part in manifest["parts"]]
    assert len(files) > 1 and len({pq.read_schema(file) for file in files}) == 1


def test_the_reader_of_the_app_opens_a_folder_of_cases(world, tmp_path, monkeypatch):
    monkeypatch.setattr(table_folder, "PART", 4)
    begin = ["cases", "pairs-bi", "pairs-tri", str(world / "rows.jsonl"), "--out"]
    assert main([*begin, str(tmp_path / "cases.parquet")]) == 0
    assert main([*begin, str(tmp_path / "cases")]) == 0
    plain = pd.read_parquet(tmp_path / "cases")  # of pandas, without settings
    pd.testing.assert_frame_equal(plain, pd.read_parquet(tmp_path / "cases.parquet"), atol=1e-4)
    expected, stored = case_table.load(tmp_path / "cases.parquet"), case_table.open_cases(tmp_path / "cases")
    assert len(stored.rows) == 6 and stored.num_labelled == expected.num_labelled
    pd.testing.assert_frame_equal(stored.groups, expected.groups)
    same = {"seconds", "date", "command"}
    assert stored.about.model_dump(exclude=same) == expected.about.model_dump(exclude=same)
    manifest = json.loads((tmp_path / "cases" / "_manifest.json").read_text("utf-8"))
    assert (manifest["rows"], manifest["aside"], len(manifest["parts"])) == (6, 1, 2)
    assert list(manifest["checkpoints"]) == ["pairs-bi", "pairs-tri"]
    (tmp_path / "cases" / "part-00001.parquet").unlink()  # a copy that was broken off
    with pytest.raises(DataError, match=r"part-00001\.parquet is missing or not whole: copy the folder again"):
        case_table.open_cases(tmp_path / "cases")
    (tmp_path / "cases" / "_manifest.json").write_text("{}")
    with pytest.raises(DataError, match=r"_manifest\.json cannot be read"):
        case_table.open_cases(tmp_path / "cases")
