"""Axes are data: outside of what is about context itself, few places name that axis, and no new one may."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What is about Tri-Attention, or about the context of an example: mechanisms, models, tasks, their training, the
# context's own pages and measures, and the glossary.
OWN = (
    "triattn_core/attention/",
    "triattn_core/configs/",
    "triattn_core/models/",
    "triattn_core/tasks/",
    "triattn_core/training/",
    "triattn_core/studies/",
    "triattn_core/analysis/attribution/",
    "triattn_core/analysis/intervention/",
    "triattn_core/analysis/maps/anova.py",
    "triattn_core/analysis/maps/context_shares.py",
    "triattn_core/analysis/maps/operand_shares.py",
    "triattn_core/analysis/maps/trace_context.py",
    "triattn_core/views/charts/",
    "triattn_core/scenes/context.py",
    "triattn_core/trace/axes.py",
    "pages/context/",
    "pages/attribute/",
    "pages/intervene/",
    "pages/laboratory/",
)
MOST, SLACK = 58, 5  # places; MOST is to be lowered when some go


def names_context(tree: ast.AST) -> Iterator[int]:
    """The lines where "context" is a text of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == "context":
            yield node.lineno


def places() -> Counter[str]:
    """How often each file outside of `OWN` names the axis."""
    found: Counter[str] = Counter()
    for room in ("triattn_core", "pages"):
        for path in (ROOT / room).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(OWN):
                found[name] += len(list(names_context(ast.parse(path.read_text(encoding="utf-8")))))
    return +found


@pytest.mark.parametrize(
    ("text", "count"), [('x["context"]', 1), ('"a context"', 0), ('f(context=1, by="context")', 1)]
)
def test_places_are_found(text, count):
    assert len(list(names_context(ast.parse(text)))) == count


def test_few_places_name_the_axis():
    found = places()
    listed = ", ".join(f"{name} {count}" for name, count in found.most_common())
    assert found.total() <= MOST, f"take axes from the array or from `further_axes`: {found.total()} places: {listed}"
    assert found.total() > MOST - SLACK, f"there are fewer places than MOST: lower it to {found.total()}"


def test_the_rooms_are_there():
    assert all((ROOT / name).exists() for name in OWN)
