"""Only `trace/site.py` composes or splits the text of a site."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OWNER = ROOT / "triattn_core" / "trace" / "site.py"
# A quantity after a slash, or a layer by its number: in no other text of the code.
TEXT = re.compile(r"/(weight|relevance|contribution|gate)\b|\blayer\.(\d|$)|^layer\\?\.|_over_[ab]/")
SPLITS = ("split", "rsplit", "partition", "rpartition", "removesuffix", "removeprefix", "startswith", "endswith")
CASES = (
    'trace.site(f"{site}/weight")',
    'f"layer.{i}/a_over_b"',
    'site.rsplit("/", 1)',
    'choice.site.rpartition("/")[2]',
    'name.removeprefix("layer.")',
    'SITE = "layer.0/a_over_b/weight"',
    'site.endswith("weight")',
    'str(site).split(".")',
)


def breaches(tree: ast.AST) -> Iterator[ast.AST]:
    """The places that write or take apart the text of a site; docstrings and argument help say it."""
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            if TEXT.search(node.value) and " " not in node.value:
                yield node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SPLITS:
            owner = ast.unparse(node.func.value)
            if re.search(r"\bsites?\)?$", owner):  # a name of it for people is none
                yield node


@pytest.mark.parametrize("case", CASES)
def test_the_search_finds_each_old_way(case):
    assert list(breaches(ast.parse(case)))


def test_nobody_else_writes_or_splits_a_site():
    files = [path for room in ("triattn_core", "pages") for path in (ROOT / room).rglob("*.py") if path != OWNER]
    found = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path in files
        for node in breaches(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, f"use Site of triattn_core/trace/site.py: {', '.join(found)}"
