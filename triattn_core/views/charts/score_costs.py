"""What each third-order score reaches against what it costs: a panel a task."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import with_titles
from triattn_core.views.lib.palette import THEMES

SIZE = 150  # pixels of a panel
SHAPES = ("circle", "square", "triangle-up", "cross", "diamond", "triangle-down")  # of the scores, in their order


def figure(rows: pd.DataFrame, colour: str, columns: int, theme: str = "light") -> alt.FacetChart:
    """rows: `task`, `score`, `milliseconds` and `accuracy`, in per cent, a mean over seeds.  colour: of the palette."""
    palette, scores = THEMES[theme], list(dict.fromkeys(rows.score))
    x_axis, y_axis = alt.Axis(tickCount=3, format="~g"), alt.Axis(values=[0, 50, 100])
    x = alt.X("milliseconds:Q", title="ms", scale=alt.Scale(type="log", nice=True), axis=x_axis)
    y = alt.Y("accuracy:Q", title="right, %", scale=alt.Scale(domain=[0, 104]), axis=y_axis)
    shapes = alt.Scale(domain=scores, range=list(SHAPES[: len(scores)]))
    tips = [
        alt.Tooltip("score:N"),
        alt.Tooltip("milliseconds:Q", format=".3g"),
        alt.Tooltip("accuracy:Q", format=".1f"),
    ]
    points = alt.Chart().mark_point(size=90, color=palette[colour], filled=False, strokeWidth=2, clip=False)
    points = points.encode(x, y, alt.Shape("score:N", scale=shapes, title=None), tooltip=tips)
    look = dict[str, Any](labelColor=palette["text"], labelFontSize=12, labelFontWeight="bold", labelAnchor="start")
    facet = alt.Facet("task:N", header=alt.Header(title=None, **look), sort=list(dict.fromkeys(rows.task)))
    panel = points.properties(width=SIZE, height=SIZE)
    return with_titles(panel.facet(facet, columns=columns, data=rows), theme)


def describe(rows: pd.DataFrame) -> str:
    """A sentence: on each task the cheapest score that gets at least 95 % right."""
    found = []
    for task, group in rows.groupby("task", sort=False):
        able = group[group.accuracy >= 95].sort_values("milliseconds")
        found.append(f"{task} {able.score.iloc[0]}" if len(able) else f"{task} none")
    return f"The cheapest score with at least 95 % right: {', '.join(found)}."
