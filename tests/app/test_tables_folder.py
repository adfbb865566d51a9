"""Tables of one's own: a folder of parts in TRIATTN_TABLES is listed under Rows, and opened piece by piece."""

from __future__ import annotations

from pathlib import Path

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
    app = sound(opened("cases", rows="far test"))
    assert len(app.dataframe[0].value) == 20 and "<b>20</b>" in texts(app)
    moved.unlink()
    assert "far test" not in app.run().selectbox(key="rows").options
