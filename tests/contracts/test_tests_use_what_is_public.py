"""Tests go through what is public: they use no private name of ours, and only contracts read source text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PRIVATE = re.compile(r"_[a-z]\w*")
# Of other libraries: what Python, IPython, anywidget, torch, Streamlit's tests and xdist call so.
OTHERS = {
    *("_exit", "_create_unverified_context", "_actions", "_asdict", "_replace", "_fields"),
    *("_repr_html_", "_esm", "_css", "_page_hash", "_split_scope"),
    *("_python_dispatch", "_pytree", "_global_forward_pre_hooks", "_global_forward_hooks"),
}
READS = {"getsource", "getsourcelines", "findsource"}


def private_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The lines that use an attribute or a name of a module that begins with an underscore; `self` has its own."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names] + (node.module or "").split(".")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("setattr", "getattr"):
            given = (part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str))
            names = [text.rpartition(".")[2] for text in given]
        yield from ((node.lineno, name) for name in names if PRIVATE.fullmatch(name) and name not in OTHERS)


def source_readers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The functions that look for files of code and read text, and the calls that ask for the source of an object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (node.attr in READS or ast.unparse(node) == "ast.parse"):
            yield node.lineno, node.attr
        elif isinstance(node, ast.FunctionDef):
            text = ast.unparse(node)
            if re.search(r"glob\('[^']*\.py'\)", text) and "read_text" in text:
                yield node.lineno, node.name


@pytest.mark.parametrize(
    "code",
    [
        "job._lock.release()",
        "load(name)._table",
        "from triattn_core.scale.train import _work",
        "monkeypatch.setattr(train, '_fit', fit)",
        "monkeypatch.setattr('triattn_core.scale.train._fit', fit)",
        "inspect.getsource(train)",
        "ast.parse(text)",
        "def test():\n    [path.read_text() for path in root.rglob('*.py')]",
    ],
)
def test_each_way_is_found(code: str) -> None:
    tree = ast.parse(code)
    assert [*private_names(tree), *source_readers(tree)]


@pytest.mark.parametrize("code", ["self._send(b'')", "os._exit(1)", "(tmp_path / 'new.py').write_text(code)"])
def test_what_is_ones_own_or_of_another_library_is_not(code: str) -> None:
    tree = ast.parse(code)
    assert not [*private_names(tree), *source_readers(tree)]


def test_tests_use_what_is_public() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line} {name}"
        for path in sorted(TESTS.rglob("*.py"))
        for line, name in private_names(ast.parse(path.read_text("utf-8")))
    ]
    assert not found, f"test through what is public, or give it a public name: {', '.join(found)}"


def test_only_contracts_read_source() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line} {name}"
        for path in sorted(TESTS.rglob("*.py"))
        if TESTS / "contracts" not in path.parents and path != TESTS / "support" / "notebook.py"
        for line, name in source_readers(ast.parse(path.read_text("utf-8")))
    ]
    assert not found, f"look at what the code does, not at its text: {', '.join(found)}"
