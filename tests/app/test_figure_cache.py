"""A figure is built once for a function and its arguments, and again for others."""

from __future__ import annotations

import pandas as pd

from pages.shared import figures

CALLS: list[str] = []


def first(rows: pd.DataFrame, theme: str = "light") -> str:
    CALLS.append("first")
    return f"first {rows.x.sum()} {theme}"


def second(rows: pd.DataFrame, theme: str = "light") -> str:
    CALLS.append("second")
    return f"second {rows.x.sum()} {theme}"


def test_a_figure_is_built_once_for_a_function_and_its_arguments() -> None:
    figures.build.clear()
    for _ in range(2):
        tables = [pd.DataFrame({"x": [1, n]}) for n in (2, 3)]
        made = [figures.build(function, rows, theme="dark") for function in (first, second) for rows in tables]
        assert made == ["first 3 dark", "first 4 dark", "second 3 dark", "second 4 dark"]
    assert CALLS == ["first", "first", "second", "second"]
    assert figures.build(first, pd.DataFrame({"x": [1, 2]})) == "first 3 light" and len(CALLS) == 5
