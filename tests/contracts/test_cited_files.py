"""Files and modules that the docs name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
FILE = re.compile(r"(?<![\w/])(?:tests|triattn_core|pages)/[\w./-]+\.\w+")
MODULE = re.compile(r"python -m ((?:tests|triattn_core)(?:\.\w+)*)")


def is_module(path: Path) -> bool:
    """Whether `python -m` runs it."""
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()


def missing(text: str) -> list[str]:
    """The files and modules that a text cites and that are not there."""
    files = {name for name in FILE.findall(text) if not (ROOT / name).is_file()}
    modules = {name for name in MODULE.findall(text) if not is_module(ROOT / name.replace(".", "/"))}
    return sorted(files | modules)


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_what_a_page_cites_exists(path: Path) -> None:
    assert missing(path.read_text("utf-8")) == []


def test_a_file_that_is_gone_is_found() -> None:
    text = "see `tests/unit/test_turns.py`, tests/contracts/test_zones.py, `python -m tests.bench.gone`, "
    text += "`python -m tests.soak`"
    assert missing(text) == ["tests.bench.gone", "tests/unit/test_turns.py"]
    assert sum(len(FILE.findall(path.read_text("utf-8"))) for path in DOCS) > 50
