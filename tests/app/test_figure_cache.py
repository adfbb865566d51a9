"""A figure is built once for a function and its arguments, and again for others."""

from __future__ import annotations

import altair
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pages.shared import figures
from tests.app.test_pages import opened, sound
from triattn_core.checkpoint.registry import laboratory_checkpoints

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


def test_arrays_are_told_apart_by_values_and_coordinates() -> None:
    made: list[float] = []

    def add(array: xr.DataArray) -> float:
        made.append(float(array.sum()))
        return made[-1]

    figures.build.clear()
    words, others = np.array(["a", "b"], object), np.array(["a", "c"], object)
    for _ in range(2):
        for values, names in (([1.0, 2.0], words), ([1.0, 3.0], words), ([1.0, 2.0], others)):
            figures.build(add, xr.DataArray(np.array(values), {"key_token": ("key", names.copy())}, ["key"]))
    assert made == [3.0, 4.0, 3.0]


@pytest.mark.skipif(
    not any(entry.name == "false-friends-tri-scaled-dot" for entry in laboratory_checkpoints()), reason="not trained"
)
@pytest.mark.parametrize("page", ("laboratory", "context"))
def test_a_rerun_builds_no_chart(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app, chart, made = sound(opened(page)), altair.Chart, []

    def count(*arguments, **options) -> altair.Chart:
        made.append(arguments)
        return chart(*arguments, **options)

    monkeypatch.setattr(altair, "Chart", count)
    number = len(app.get("vega_lite_chart"))
    assert number > 2 and len(sound(app.run()).get("vega_lite_chart")) == number and made == []
    figures.build.clear()
    app.run()
    assert len(made) >= number
