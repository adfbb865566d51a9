"""A metric against a setting such as the number of layers: a line a system, its runs as small dots behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.trace.listing import listing
from triattn_core.views.charts.axis_style import style_axes
from triattn_core.views.lib.palette import THEMES

DASHES = ([1, 0], [5, 3], [2, 2], [8, 3, 2, 3], [1, 3])
APART = 0.05  # of the distance of two settings: bars of several lines stand beside each other
CLOSE = 0.075  # of the height: line names nearer than this are moved apart


def table(points: pd.DataFrame) -> pd.DataFrame:
    """Columns line, x, mean, low, high (one standard deviation), runs, bottom, top (one standard error), of rows
    `line, x, run, value` and, where known, `standard_error`."""
    groups = points.assign(standard_error=points.get("standard_error", 0.0)).groupby(["line", "x"], sort=False)
    means = groups.value.agg(["mean", "std", "count"]).reset_index()
    error = groups.standard_error.mean().astype(float).fillna(0.0).to_numpy()
    means["bottom"], means["top"] = means["mean"] - error, means["mean"] + error
    spread = means["std"].fillna(0.0)
    means["low"], means["high"] = means["mean"] - spread, means["mean"] + spread
    return means.rename(columns={"count": "runs"}).drop(columns="std")


def _span(points: pd.DataFrame, means: pd.DataFrame) -> tuple[float, float]:
    """The lowest and the highest value that is drawn: of runs, bands and bars."""
    least = min(points["value"].min(), means[["low", "bottom"]].to_numpy().min())
    most = max(points["value"].max(), means[["high", "top"]].to_numpy().max())
    return (least, most) if most > least else (least - 0.5, most + 0.5)


def _ends(means: pd.DataFrame, span: tuple[float, float], height: int) -> dict[str, float]:
    """Pixels by which the name at the end of each line must move so that none covers another."""
    last = means.groupby("line", sort=False).tail(1).sort_values("mean", ascending=False)
    least, most = span
    moves, before = {}, float("-inf")
    for _, row in last.iterrows():
        y_position = height * (most - row["mean"]) / (most - least)
        put = max(y_position, before + CLOSE * height)
        moves[row["line"]], before = put - y_position, put
    return moves


def _aside(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """With the column `place`: x, a little to the side where there are several lines."""
    offset = rows.line.map({name: number - (len(names) - 1) / 2 for number, name in enumerate(names)}).astype(float)
    steps = sorted(rows.x.unique().tolist())
    step = min((after - before for before, after in zip(steps, steps[1:])), default=0.0)
    return rows.assign(place=rows.x + APART * step * offset)


def _text(base: alt.Chart, field: str, format: str = "", **text_options) -> alt.Chart:
    return base.mark_text(fontWeight=600, fontSize=12, **text_options).encode(text=alt.Text(field, format=format))


def describe(points: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """A sentence: each line's highest mean and where it stands, ties included; the highest line first."""
    means = points.groupby(["line", "x"], sort=False)["value"].mean().round(2)
    best = means.groupby("line").max().sort_values(ascending=False)
    places = {line: [f"{x:g}" for x, value in means[line].items() if value == top] for line, top in best.items()}
    ends = "; ".join(f"{line} {top:.2f} at {listing(places[line])}" for line, top in best.items())
    return f"Highest mean {titles['value']} of each line, against {titles['x']}: {ends}."


def figure(
    points: pd.DataFrame,
    titles: Mapping[str, str],
    ringed_x: Mapping[str, float | None],
    colour: str,
    theme: str = "light",
    height: int = 220,
) -> alt.LayerChart:
    """points: rows `line, x, run, value`; a band is one standard deviation over runs, where there are several; a bar
    one standard error, where `standard_error` is known.

    titles: of `x` and `value`.  ringed_x: of a line the x that is ringed.  Lines share a colour and differ in their
    dash.
    """
    palette, names = THEMES[theme], list(dict.fromkeys(points.line))
    points, means = _aside(points, names), _aside(table(points), names)
    ticks, span = sorted(means.x.unique().tolist()), _span(points, means)
    ends = alt.Scale(domain=[means["place"].min(), means["place"].max()]) if len(ticks) > 1 else alt.Scale()
    x = alt.X("place:Q", title=titles["x"], scale=ends, axis=alt.Axis(values=ticks, grid=False, format="~g"))
    y = alt.Y("mean:Q", title=None, scale=alt.Scale(domain=span, zero=False, nice=False), axis=alt.Axis(tickCount=5))
    dash = alt.StrokeDash("line:N", scale=alt.Scale(domain=names, range=[*DASHES[: len(names)]]), legend=None)
    tooltip: list[Any] = ["line:N", alt.Tooltip("x:Q", title=titles["x"])]
    tips, run_tips = (
        [*tooltip, alt.Tooltip(f"{name}:Q", format=".2f", title=titles["value"]), extra]
        for name, extra in (("mean", "runs:Q"), ("value", "run:Q"))
    )
    base = alt.Chart(means).encode(x, y, detail="line:N", tooltip=tips)
    runs = alt.Chart(points).encode(x, alt.Y("value:Q"), tooltip=run_tips)
    ringed = base.properties(data=means[means.x == means.line.map(dict(ringed_x))])
    top = base.properties(data=means.loc[[means["mean"].idxmax()]])
    layers = [
        base.mark_area(opacity=0.14, color=colour).encode(alt.Y("low:Q"), alt.Y2("high:Q")),
        base.mark_rule(strokeWidth=1.5, opacity=0.55, color=colour).encode(alt.Y("bottom:Q"), alt.Y2("top:Q")),
        runs.mark_point(size=14, filled=True, color=colour, opacity=0.45),
        base.mark_line(strokeWidth=2, color=colour).encode(dash),
        base.mark_point(size=50, filled=True, opacity=1, color=colour),
        ringed.mark_point(size=190, filled=False, strokeWidth=1.5, opacity=1, color=palette["text"]),
        _text(top.encode(alt.Y("top:Q")), "mean:Q", color=palette["text"], dy=-16, format=".2f"),
    ]
    for name, move in _ends(means, span, height).items():
        end = base.properties(data=means[means.line == name].tail(1).assign(place=means["place"].max()))
        layers.append(_text(end, "line:N", align="left", color=colour, dx=10, dy=move))
    chart = alt.layer(*layers).properties(height=height, padding={"right": 76, "left": 0, "top": 18, "bottom": 4})
    return style_axes(chart, palette)
