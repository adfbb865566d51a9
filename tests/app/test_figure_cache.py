"""A figure is built once for a function and its arguments, and again for others."""

from __future__ import annotations

import altair
import numpy as np
import pandas as pd
import pytest
import streamlit as st
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
@pytest.mark.parametrize(("page", "selectable"), [("laboratory", 0), ("context", 2)])
def test_a_rerun_converts_only_charts_that_can_be_clicked(
    page: str, selectable: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, built, converted = sound(opened(page)), [], []
    chart, to_dict = altair.Chart, altair.TopLevelMixin.to_dict

    def build(*arguments, **options) -> altair.Chart:
        built.append(arguments)
        return chart(*arguments, **options)

    def convert(self, *arguments, **options) -> dict:
        if "context" not in options:  # a whole figure, not a part of one
            converted.append(self)
        return to_dict(self, *arguments, **options)

    monkeypatch.setattr(altair, "Chart", build)
    monkeypatch.setattr(altair.TopLevelMixin, "to_dict", convert)
    specs = [chart.proto.spec for chart in app.get("vega_lite_chart")]
    assert len(specs) > 2 and [chart.proto.spec for chart in sound(app.run()).get("vega_lite_chart")] == specs
    assert built == [] and len(converted) == selectable
    st.cache_resource.clear()
    app.run()
    assert len(built) >= len(specs) == len(converted) - selectable
