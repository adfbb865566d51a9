"""Laboratory models against the size of their task, or the steps of their training: accuracy, and weight on the truth;
a dot a seed, chance dashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import with_titles
from triattn_core.views.charts.truth_scores import PANELS
from triattn_core.views.lib.palette import THEMES

DASHES = ([1, 0], [6, 3], [2, 2])  # of models that share a colour, in their order


def figure(
    rows: pd.DataFrame, measure: str, x_name: str, colours: Mapping[str, str], theme: str = "light", log: bool = False
) -> alt.LayerChart:
    """One panel: a line a model through the means over seeds.

    rows: `results.laboratory.COLUMNS`; colours: by mechanism; log: whether x has a log scale.  The weight's floor
    differs from model to model: an even share of a cube's cells, or of two-way weights.
    """
    palette, rows = THEMES[theme], rows[rows["measure"] == measure]
    x = _x(sorted(set(rows["x"])), x_name, log)
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=5))
    names, kinds = list(dict.fromkeys(rows["model"])), dict(zip(rows["model"], rows["mechanism"]))
    scale = alt.Scale(domain=names, range=[colours[kinds[name]] for name in names])
    legend = alt.Legend(title=None, orient="right", labelColor=palette["text"], labelLimit=240, symbolType="stroke",
                        symbolSize=400, symbolStrokeWidth=2)  # fmt: skip
    colour = alt.Color("model:N", scale=scale, legend=legend)
    dash = alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=_dashes(names, kinds)), legend=legend)
    means = rows.groupby(["model", "x"], sort=False, as_index=False)[["value", "floor"]].mean()
    tips: list[Any] = ["model:N", alt.Tooltip("x:Q", title=x_name, format=","), "seed:O",
            alt.Tooltip("value:Q", format=".2f"), alt.Tooltip("floor:Q", format=".2f")]  # fmt: skip
    lines = alt.Chart(means).encode(x, y, colour, dash).mark_line(strokeWidth=2)
    dots = alt.Chart(rows).encode(x, y, colour, tooltip=tips).mark_point(filled=True, size=60, opacity=0.9)
    chart = alt.layer(*_floors(means, measure, x, scale, palette), lines, dots)
    return with_titles(chart.properties(width=560, height=250, title=PANELS[measure]), theme)


def _x(places: list[int], title: str, log: bool) -> alt.X:
    if log:
        scale = alt.Scale(type="log", domain=[places[0] / 1.3, places[-1] * 1.3])
    else:
        scale = alt.Scale(domain=[places[0] - 0.5, places[-1] + 0.5])
    return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(values=places, grid=False, format=",d", labelAngle=0))


def _dashes(names: list[str], kinds: Mapping[str, str]) -> list[list[int]]:
    """A dash a model: models of one mechanism share its colour."""
    order = {name: [other for other in names if kinds[other] == kinds[name]].index(name) for name in names}
    return [DASHES[order[name] % len(DASHES)] for name in names]


def _floors(means: pd.DataFrame, measure: str, x: alt.X, scale: alt.Scale, palette: Mapping) -> list[alt.Chart]:
    """Chance, the same for all; or the even share of each model, in its colour."""
    encoded = alt.Chart(means).encode(x, alt.Y("floor:Q"))
    if measure == "accuracy":
        return [encoded.mark_line(color=palette["muted"], strokeDash=[4, 3], strokeWidth=1.5)]
    coloured = encoded.encode(color=alt.Color("model:N", scale=scale))
    return [coloured.mark_line(strokeDash=[4, 3], strokeWidth=1.2, opacity=0.8)]


def describe(rows: pd.DataFrame, x_name: str) -> str:
    """A sentence: the mean accuracy of each model at each place of x, and chance."""
    accuracy = rows[rows["measure"] == "accuracy"]
    models = []
    for name, of_model in accuracy.groupby("model", sort=False):
        points = (f"{part['value'].mean():.1f} at {x:,}" for x, part in of_model.groupby("x"))
        models.append(f"{name} {', '.join(points)}")
    floors = {x: f"{part['floor'].mean():.1f}" for x, part in accuracy.groupby("x")}
    floor_texts = (f"{floor} at {x:,}" for x, floor in floors.items())
    chance = ", ".join(floor_texts) if len(set(floors.values())) > 1 else next(iter(floors.values()))
    return f"Accuracy in % by {x_name}: {'; '.join(models)}. Dashed, chance: {chance}."
