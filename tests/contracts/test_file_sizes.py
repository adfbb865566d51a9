"""No Python file is longer than can be read at a sitting: CONTRIBUTING.md asks for about 150 lines."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT, MOST = Path(__file__).resolve().parents[2], 250


def long_files(folder: Path) -> list[str]:
    """The Python files of a folder that have more than MOST lines, with their number."""
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in sorted(folder.rglob("*.py"))}
    return [f"{path.relative_to(folder)}: {count}" for path, count in lengths.items() if count > MOST]


@pytest.mark.parametrize("folder", ("triattn_core", "pages", "tests"))
def test_no_file_is_above_the_limit(folder: str) -> None:
    assert long_files(ROOT / folder) == []


def test_a_file_above_the_limit_is_found(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("\n" * MOST, "utf-8")
    (tmp_path / "long.py").write_text("\n" * (MOST + 1), "utf-8")
    assert long_files(tmp_path) == [f"long.py: {MOST + 1}"]
