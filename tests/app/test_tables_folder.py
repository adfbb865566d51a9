"""Tables of one's own: a folder of parts in TRIATTN_TABLES is listed under Rows, and opened piece by piece."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.app.test_pages import opened, sound, texts
from tests.support.mined_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE


def test_a_folder_of_parts_is_listed_under_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = make_checkpoints(tmp_path / "checkpoints")
    monkeypatch.setenv(VARIABLE, str(checkpoints))
    monkeypatch.setenv("TRIATTN_TABLES", str(tmp_path / "tables"))
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))
    stored = next(path for path in tmp_path.rglob("cases/*.parquet") if "far" in path.name)
    moved = tmp_path / "tables" / "mine" / "part-0.parquet"
    moved.parent.mkdir(parents=True)
    stored.rename(moved)
    (tmp_path / "tables" / "notes.txt").write_text("not a table")
    (tmp_path / "tables" / "gone.parquet").symlink_to(tmp_path / "nowhere.parquet")
    (tmp_path / "tables" / ".triattn-a1.part").mkdir()  # a table that is being written
    shutil.copy(moved, tmp_path / "tables" / ".triattn-a1.part" / "part-00000.parquet")
    app = sound(opened("cases", rows="far test"))
    assert len(app.dataframe[0].value) == 20 and "<b>20</b>" in texts(app)
    assert not [name for name in app.selectbox(key="rows").options if "triattn-" in name]
    (rank,) = re.findall(r"rank among all rows\D+(\d+) of 20", texts(app))  # the list begins with the most moved
    assert rank == "1"
    moved.unlink()
    assert "far test" not in app.run().selectbox(key="rows").options


def test_tables_of_files_of_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "checkpoints")))
    monkeypatch.setenv("TRIATTN_TABLES", str(tmp_path / "tables"))
    stored = next(path for path in tmp_path.rglob("cases/*.parquet") if "far" in path.name)
    (tmp_path / "tables" / "mine").mkdir(parents=True)
    shorter = pq.read_table(stored).slice(0, 7)
    pq.write_table(shorter, tmp_path / "tables" / "mine" / "part-00000.parquet")
    pq.write_table(shorter.slice(0, 3), tmp_path / "tables" / "again.parquet")
    for page in ("cases", "compare"):
        counts = {"far test": 20, "far test (mine)": 7, "far test (again)": 3}
        for name, count in counts.items():
            app = sound(opened(page, rows=name))
            picker = app.selectbox(key="rows")
            assert picker.value == name and set(counts) <= set(picker.options)
            assert f"<b>{count}</b>" in texts(app) or f"{count} rows" in texts(app) or f"{count} pairs" in texts(app)
    stored.unlink()
    options = opened("cases", rows="far test (mine)").selectbox(key="rows").options
    assert "far test" not in options and "far test (again)" in options


def test_a_table_of_other_checkpoints_of_the_task_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "checkpoints")))
    monkeypatch.setenv("TRIATTN_TABLES", str(tmp_path / "tables"))
    stored = next(path for path in tmp_path.rglob("cases/*.parquet") if "near" in path.name)  # of two of the three
    assert "has not been mined with these checkpoints" in texts(opened("cases", rows="near test"))
    (tmp_path / "tables").mkdir()
    stored.rename(tmp_path / "tables" / "mine.parquet")
    app = sound(opened("cases", rows="near test"))
    assert app.selectbox(key="rows").value == "near test" and len(app.dataframe[0].value) == 20
    assert "has not been mined" not in texts(app)


@pytest.mark.parametrize("page", ["cases", "compare"])
def test_a_table_without_rows_says_so(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "checkpoints")))
    monkeypatch.setenv("TRIATTN_TABLES", str(tmp_path / "tables"))
    stored = next(path for path in tmp_path.rglob("cases/*.parquet") if "far" in path.name)
    (tmp_path / "tables").mkdir()
    pq.write_table(pq.read_table(stored).slice(0, 0), tmp_path / "tables" / "empty.parquet")
    app = sound(opened(page, rows="far test (empty)"))
    assert "has no rows" in texts(app) and not app.dataframe
