"""No file of Python, JavaScript or CSS is longer than can be read at a sitting, no Python function longer than a
screen: CONTRIBUTING.md asks for about 150 lines and 40.  eslint.config.js limits JavaScript functions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT, MOST, MOST_OF_FUNCTION = Path(__file__).resolve().parents[2], 350, 45
SUFFIXES = (".py", ".js", ".css")


def long_files(folder: Path) -> list[str]:
    """The files of code and style in a folder that have more than MOST lines, with their number."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES]
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in files}
    return [f"{path.relative_to(folder)}: {count}" for path, count in lengths.items() if count > MOST]


def long_functions(folder: Path) -> list[str]:
    """The functions of a folder that have more than MOST_OF_FUNCTION lines, docstrings apart, with their number."""
    return [
        f"{path.relative_to(folder)} {node.name}: {lines}"
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (lines := count_lines(node)) > MOST_OF_FUNCTION
    ]


def count_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From `def` to the last line, without the docstring."""
    first = function.body[0]
    docstring = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


@pytest.mark.parametrize("folder", ("triattn_core", "pages", "tests"))
def test_no_file_is_above_the_limit(folder: str) -> None:
    assert long_files(ROOT / folder) == []


@pytest.mark.parametrize("folder", ("triattn_core", "pages"))
def test_no_function_is_above_the_limit(folder: str) -> None:
    assert long_functions(ROOT / folder) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_above_the_limit_is_found(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"short{suffix}").write_text("\n" * MOST, "utf-8")
    (tmp_path / f"long{suffix}").write_text("\n" * (MOST + 1), "utf-8")
    assert long_files(tmp_path) == [f"long{suffix}: {MOST + 1}"]


def test_a_function_above_the_limit_is_found(tmp_path: Path) -> None:
    def function(name: str, lines: int) -> str:
        return f'def {name}():\n    """One line.\n\n    And another.\n    """\n' + "    1\n" * (lines - 1)

    code = function("short", MOST_OF_FUNCTION) + "\n\n" + function("long", MOST_OF_FUNCTION + 1)
    (tmp_path / "both.py").write_text(code, "utf-8")
    assert long_functions(tmp_path) == [f"both.py long: {MOST_OF_FUNCTION + 1}"]
