"""The table in docs/architecture.md of where a number on a page comes from names files that exist and are used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pages.shared.navigation import TITLES

ROOT = Path(__file__).parents[2]
LIBRARY, PAGES = ROOT / "triattn_core", ROOT / "pages"


def rows() -> Iterator[tuple[str, list[Path], list[Path], list[Path]]]:
    """Of each row its page and number, the files that compute, those that place, and those that call what computes:
    of a number that is kept with a checkpoint training and commands."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = text.partition("## Where a number on a page comes from")[2].partition("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith("| Page"):
            page, number, computed, placed = (cell.strip() for cell in line.strip("|").split("|"))
            placing = named_files(placed, PAGES)
            callers = list(placing)
            for folder in ("training", "commands") if "kept in" in computed else ():
                callers += sorted((LIBRARY / folder).rglob("*.py"))
            yield f"{page}: {number}", named_files(computed, LIBRARY), placing, callers


def named_files(cell: str, root: Path) -> list[Path]:
    """The files that a cell names; a name without a folder is in that of the name before it."""
    files: list[Path] = []
    folder = root
    for name in re.findall(r"`([^`]+)`", cell):
        if name == "metrics.json" or not set("./") & set(name):
            continue
        path = (root if "/" in name else folder) / name
        files += sorted(path.parent.glob(path.name)) or [path]
        folder = path if name.endswith("/") else path.parent
    return files


@cache
def imports(file: Path) -> frozenset[Path]:
    """The project's files that one imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    paths = (ROOT / name.replace(".", "/") for name in names)
    candidates = (candidate for path in paths for candidate in (path.with_suffix(".py"), path / "__init__.py"))
    return frozenset(candidate for candidate in candidates if candidate.is_file())


def reached(files: list[Path]) -> set[Path]:
    """What files import, directly or through others."""
    seen, waiting = set(files), list(files)
    while waiting:
        new = imports(waiting.pop()) - seen
        seen |= new
        waiting += new
    return seen


ROWS = list(rows())


@pytest.mark.parametrize(("computed", "placed", "callers"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_each_file_of_the_table_exists_and_is_used(
    computed: list[Path], placed: list[Path], callers: list[Path]
) -> None:
    assert placed and [path for path in (*computed, *placed) if not path.exists()] == []
    used = reached(callers)
    assert [path for path in computed if path.suffix == ".py" and path not in used] == []


def test_every_page_is_in_the_table() -> None:
    named = {page for row in ROWS for page in row[0].partition(":")[0].split(", ")}
    assert set(TITLES.values()) - named == set()
