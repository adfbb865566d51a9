"""No module imports itself by a detour, not even in a function or for types: what is below knows not what is above."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("triattn_core", "pages")


def modules(root: Path) -> dict[str, Path]:
    """The files of the rooms, by the dotted name of each module."""
    paths = [path for room in ROOMS for path in sorted((root / room).rglob("*.py"))]
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(source: str, known: Mapping[str, Path]) -> set[str]:
    """The modules of ours that a source imports.  `from package import module` is that module, not the package."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            of = (f"{node.module}.{alias.name}" for alias in node.names)
            names |= {name if name in known else node.module for name in of}
    return names & set(known)


def circle(root: Path) -> list[str]:
    """The modules of one import circle, in their order; empty where there is none."""
    known = modules(root)
    graph = {name: imported(path.read_text("utf-8"), known) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_by_a_detour() -> None:
    assert len(modules(ROOT)) > 300
    assert circle(ROOT) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    """Twin: at the top of a file, inside a function, and for types alone."""
    room = tmp_path / "triattn_core"
    room.mkdir()
    (room / "__init__.py").write_text("from triattn_core.above import draw\n")
    (room / "above.py").write_text("from triattn_core import below\n")
    (room / "below.py").write_text("")
    assert circle(tmp_path) == []
    for lazy in ("import triattn_core.above", "from triattn_core import above", "from triattn_core.above import draw"):
        for source in (lazy, f"def f():\n    {lazy}", f"if TYPE_CHECKING:\n    {lazy}"):
            (room / "below.py").write_text(source + "\n")
            assert set(circle(tmp_path)) == {"triattn_core.above", "triattn_core.below"}
