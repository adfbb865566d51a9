"""The requirements files: pinned, explained, complete, and nothing in them that is not used."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"(?P<name>[A-Za-z0-9-]+)(\[[a-z]+\])?==(?P<version>\S+) +# .+")
FILES = [f"requirements{part}.txt" for part in ("", "-dev", "-scale", "-notebook", "-docs", "-authors", "-train")]
# Loaded by name, never by an import of ours.
BACKENDS: set[str] = set()
OPTIONAL = {"ray", "anywidget", "traitlets", "sacrebleu"}  # imported where an option, a widget or BLEU asks
# Not installed everywhere.
EXTRAS = tuple(f"requirements{part}.txt" for part in ("-notebook", "-docs", "-authors", "-train"))


def pins(name: str) -> dict[str, str]:
    """Package → version of a requirements file; a line that is no pin with a reason fails."""
    lines = [line for line in (ROOT / name).read_text("utf-8").splitlines() if line and not line.startswith("#")]
    matches = [LINE.fullmatch(line) for line in lines]
    assert all(matches), [line for line, match in zip(lines, matches) if not match]
    return {match["name"]: match["version"] for match in matches}


def imported(*paths: Path) -> set[str]:
    """The distributions that sources import, ours and the standard library aside."""
    tops = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                tops |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                tops.add(node.module.split(".")[0])
    ours = {"triattn_core", "pages", "tests", "docs", "app", "__future__"} | set(sys.stdlib_module_names)
    known = packages_distributions()
    return {known.get(top, [top])[0] for top in tops - ours}


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_a_pin_with_a_reason_and_what_is_installed(name):
    for package, wanted in pins(name).items():
        try:
            assert version(package).split("+")[0] == wanted, package
        except PackageNotFoundError:
            assert name in EXTRAS, f"{package} is not installed"


def test_the_app_imports_what_is_required_and_requires_what_it_imports():
    sources = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "triattn_core").rglob("*.py")]
    assert imported(*sources) - OPTIONAL == pins("requirements.txt").keys() - BACKENDS


def test_the_tests_import_what_is_required():
    known = set().union(*(pins(f"requirements{part}.txt") for part in ("", "-dev", "-scale", "-notebook")))
    assert imported(*(ROOT / "tests").rglob("*.py")) <= known


def test_the_package_works_with_ranges_that_hold_the_pins():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ranges = {requirement.name: requirement.specifier for requirement in map(Requirement, project["dependencies"])}
    tested = pins("requirements.txt")
    assert ranges.keys() == tested.keys()
    for name, version_tested in tested.items():
        assert ranges[name].contains(version_tested), name
        assert not ranges[name].contains("0.0.1"), name
    extras = [
        requirement for lines in project["optional-dependencies"].values() for requirement in map(Requirement, lines)
    ]
    tested = pins("requirements-scale.txt") | pins("requirements-notebook.txt")
    assert {extra.name for extra in extras} == tested.keys()
    assert all(extra.specifier.contains(tested[extra.name]) for extra in extras)


def test_the_lock_file_has_every_pin_and_nothing_but_exact_versions():
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    locked = dict(line.split("==") for line in lines)
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", pin) for pin in locked.values())
    locked = {canonicalize_name(name): pin for name, pin in locked.items()}
    for file in FILES[:-1]:
        for name, pinned_version in pins(file).items():
            assert locked[canonicalize_name(name)] == pinned_version, name
