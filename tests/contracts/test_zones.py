"""Who may import what: each row of the design's zone table, in a fresh interpreter and in the source.

The fresh interpreter sees what comes in by detours; the source check sees what is imported inside functions, and what
a file may import of our own rooms.  A twin of each proves that it can fail.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "triattn_core"


@dataclass(frozen=True)
class Zone:
    """`paths`: folders and files; `uses`: packages; `rooms`: zones of ours; `never`: packages, not even by a detour."""

    paths: tuple[str, ...]
    uses: frozenset[str]
    rooms: frozenset[str]
    never: frozenset[str]


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ZONES = {
    "text": Zone(
        ("triattn_core/text", "triattn_core/tasks"),
        words("tokenizers transformers pandas sacrebleu"),
        words("text trace"),
        words("torch plotly altair streamlit"),
    ),
    # What a config.json may say: read without the models that it sets.
    "configs": Zone(
        ("triattn_core/configs", "triattn_core/literal.py"),
        words("pydantic"),
        words("text trace configs"),
        words("torch plotly altair streamlit"),
    ),
    # What pages ask of a checkpoint: its parts are imported where they run.
    "kinds": Zone(
        ("triattn_core/kinds",),
        frozenset(),
        words("text trace configs tensor kinds"),
        words("torch plotly altair streamlit"),
    ),
    "trace": Zone(
        ("triattn_core/trace", "triattn_core/errors.py", "triattn_core/cached.py", "triattn_core/case_book"),
        words("numpy xarray h5netcdf pandas sqlalchemy"),
        words("trace text"),  # text: sentences and phrases of a text, which tokens are grouped by
        words("torch plotly altair streamlit"),
    ),
    "views": Zone(
        ("triattn_core/views",),
        words("numpy xarray pandas plotly altair"),
        words("text trace views"),
        words("torch streamlit"),
    ),
    # What joins models and views.
    "scenes": Zone(
        ("triattn_core/scenes",),
        words("numpy pandas xarray pydantic matplotlib fontTools vl_convert"),
        words("text trace configs tensor views scenes"),
        words("streamlit"),
    ),
    # What uses scenes: the cards they are packed into, the command line, and widgets.
    "cards": Zone(
        (
            *("triattn_core/case_card", "triattn_core/commands", "triattn_core/__main__.py"),
            *("triattn_core/__init__.py", "triattn_core/library.py", "triattn_core/cube_widget.py"),
        ),
        words("numpy pandas xarray pydantic tqdm psutil anywidget traitlets"),
        words("text trace configs tensor views scenes cards"),
        words("streamlit"),
    ),
    # Whatever else is in the package: from `attention`, `models` and `training` to `checkpoint` and `results`.
    "tensor": Zone(
        ("triattn_core",),
        words(
            "numpy pandas xarray scipy torch transformers tokenizers safetensors accelerate PIL captum pydantic psutil"
        )
        | words("jaxtyping rich typer tqdm pyarrow ray filelock h5py"),
        words("text trace configs kinds tensor"),
        words("plotly altair streamlit"),
    ),
    "pages": Zone(
        ("app.py", "pages"),
        words("streamlit pandas"),  # pandas: the tables that Streamlit shows and saves
        words("text trace configs views tensor scenes cards pages"),
        words("torch"),
    ),
}


def zone_of(path: Path, root: Path = ROOT) -> str:
    """The first zone that has the file, in the order of the table."""
    name = path.relative_to(root).as_posix()
    return next(zone for zone, row in ZONES.items() if any(name == p or name.startswith(p + "/") for p in row.paths))


def files(zone: str) -> list[Path]:
    sources = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / PACKAGE).rglob("*.py")]
    return sorted(path for path in sources if path.is_file() and zone_of(path) == zone)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# --- in a fresh interpreter ---

PROBE = """
import importlib, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
print(*sorted(set(sys.argv[1].split(",")) & {name for name, module in sys.modules.items() if module is not None}))
"""


def brought_in(modules: list[str], never: frozenset[str], folder: Path) -> set[str]:
    """Which of `never` a fresh interpreter has loaded after importing `modules`."""
    # -B: a source that is written twice in one second at one size would be read from the first's bytecode.
    command = [sys.executable, "-B", "-c", PROBE, ",".join(sorted(never)), *modules]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("zone", ZONES)
def test_nothing_forbidden_is_loaded(zone):
    """A page is a script that draws when it is imported; the parts beside it are imported like the rest."""
    modules = [module_of(path) for path in files(zone) if zone != "pages" or path.name not in ("app.py", "page.py")]
    assert modules
    assert brought_in(modules, ZONES[zone].never, ROOT) == set()


@pytest.mark.parametrize("zone", ZONES)
def test_the_check_can_fail(zone, tmp_path):
    """Twin: each forbidden package, brought in by a detour, is seen."""
    for package in ZONES[zone].never:
        (tmp_path / f"{package}.py").write_text("")
        (tmp_path / "detour.py").write_text(f"import {package}\n")
        (tmp_path / "intruder.py").write_text("from detour import *\n")
        assert brought_in(["intruder"], ZONES[zone].never, tmp_path) == {package}


# --- in the source ---


def imports(source: str) -> list[tuple[str, bool]]:
    """`(dotted name, is it for types only)` of every import, wherever it stands."""
    tree = ast.parse(source)
    typing = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for statement in branch.body
        for node in ast.walk(statement)
    }
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [(alias.name, id(node) in typing) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names += [(f"{base}.{alias.name}", id(node) in typing) for alias in node.names]
    return names


def complaints(source: str, zone: str) -> list[str]:
    """What a source imports that its zone may not."""
    row, problems = ZONES[zone], []
    for name, types_only in imports(source):
        top = name.split(".")[0]
        if name.startswith("."):
            problems.append(f"relative import {name}")
        elif top in (PACKAGE, "pages"):
            other = room_of(name)
            if other is not None and other not in row.rooms:
                problems.append(f"{name} ({other})")
        elif types_only and top not in ("torch", "streamlit") and zone == "pages":
            continue  # a page may name a figure's type
        elif top not in sys.stdlib_module_names and top not in row.uses:
            problems.append(name)
    return problems


def room_of(name: str) -> str | None:
    """The zone of one of our modules, or of the module a name is imported from; None for the package itself."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        stem = ROOT.joinpath(*parts[:length])
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return zone_of(path)
        if stem.is_dir():
            return zone_of(stem / "__init__.py")
    return None


@pytest.mark.parametrize("zone", ZONES)
def test_sources_import_what_their_zone_may(zone):
    assert files(zone)
    problems = {module_of(path): complaints(path.read_text("utf-8"), zone) for path in files(zone)}
    assert {module: names for module, names in problems.items() if names} == {}


@pytest.mark.parametrize("zone", ZONES)
def test_the_source_check_can_fail(zone):
    """Twin: a forbidden package is seen at the top, inside a function, and in a branch; ours in the wrong zone too."""
    for package in ZONES[zone].never | {"a_package_nobody_has_heard_of"}:
        for source in (f"import {package}.x", f"def f():\n    from {package} import x", f"if 1:\n    import {package}"):
            assert complaints(source, zone), source
    if zone != "pages":
        assert complaints("from pages.shared import anything", zone)
        assert zone in ("views", "scenes", "cards") or complaints("from triattn_core.views import cube", zone)
    if zone not in ("cards", "pages"):
        assert complaints("from triattn_core.case_card import draw", zone)
    if zone in ("text", "trace", "views"):
        assert complaints("from triattn_core.attention.tap import tap", zone)
    assert complaints("from . import neighbour", zone)


def test_a_page_names_figure_types_without_importing_them():
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import plotly.graph_objects as go\n"
    assert complaints(source, "pages") == []
    assert complaints("import plotly.graph_objects as go", "pages")
