"""A metric against a setting such as the number of layers: a line a system, its runs as small dots behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.trace.listing import listing
from triattn_core.views.charts.axis_style import style_axes
from triattn_core.views.charts.line_labels import draw_labels, place_labels
from triattn_core.views.lib.palette import THEMES

DASHES = ([1, 0], [5, 3], [2, 2], [8, 3, 2, 3], [1, 3])
APART = 0.05  # of the distance of two settings: bars of several lines stand beside each other
AXIS = 70  # pixels of the height that axis and padding take
ROOM = 0.06  # above and below what is drawn, as a share of it
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
SERIES = ("series_2", "series_3", "series_4", "muted")  # after the colour of the first line


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
    """Of the value axis: the lowest and the highest value of runs, bands and bars, with room so that none is cut."""
    least = min(points["value"].min(), means[["low", "bottom"]].to_numpy().min())
    most = max(points["value"].max(), means[["high", "top"]].to_numpy().max())
    room = ROOM * (most - least) if most > least else 0.5
    return float(least - room), float(most + room)


def _along(means: pd.DataFrame) -> tuple[float, float]:
    """Of the axis of settings: with room on both sides, so that no point stands on an axis."""
    least, most = float(means.place.min()), float(means.place.max())
    room = (most - least) / 20 or 0.5
    return least - room, most + room


def _bridges(means: pd.DataFrame) -> pd.DataFrame:
    """Where a line skips settings that other lines have: its points on both sides, `place`, `mean` to `place_to`,
    `mean_to`."""
    settings, parts = sorted(means.x.unique()), []
    for _, rows in means.groupby("line", sort=False):
        after = rows.sort_values("x").shift(-1)
        rows = rows.sort_values("x").assign(place_to=after.place, mean_to=after["mean"])
        ranks = rows.x.map(settings.index)
        parts.append(rows[ranks.shift(-1) - ranks > 1])
    return pd.concat(parts)


def _with_gaps(means: pd.DataFrame) -> pd.DataFrame:
    """A row for every line and setting, without a mean where the setting was not run: a drawn line breaks there."""
    every = pd.MultiIndex.from_product([means.line.unique(), sorted(means.x.unique())], names=["line", "x"])
    rows = means.set_index(["line", "x"]).reindex(every).reset_index()
    return rows.assign(place=rows.place.fillna(rows.x))


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
    gaps = _bridges(table(points).assign(place=0.0)).empty
    dotted = "" if gaps else f" Thin dots bridge {titles['x']} that were not run."
    return f"Highest mean {titles['value']} of each line, against {titles['x']}: {ends}.{dotted}"


def figure(
    points: pd.DataFrame,
    titles: Mapping[str, str],
    ringed_x: Mapping[str, float | None],
    colour: str,
    theme: str = "light",
    height: int = 320,
) -> alt.LayerChart:
    """points: rows `line, x, run, value`; a band is one standard deviation over runs, where there are several; a bar
    one standard error, where `standard_error` is known.

    titles: of `x` and `value`.  ringed_x: of a line the x that is ringed.  colour: of the first line; the others have
    colours of their own, and each its dash and shape.
    """
    palette, names = THEMES[theme], list(dict.fromkeys(points.line))
    points, means = _aside(points, names), _aside(table(points), names)
    span, colours = _span(points, means), [colour, *(palette[name] for name in SERIES)]
    colours = [colours[i % len(colours)] for i in range(len(names))]
    axis = alt.Axis(values=sorted(means.x.unique().tolist()), grid=False, format="~g")
    x = alt.X("place:Q", title=titles["x"], scale=alt.Scale(domain=_along(means), nice=False), axis=axis)
    y = alt.Y("mean:Q", title=None, scale=alt.Scale(domain=span, zero=False, nice=False), axis=alt.Axis(tickCount=5))
    coloured, dash, shape = (
        channel("line:N", scale=alt.Scale(domain=names, range=[*values[: len(names)]]), legend=None)
        for channel, values in ((alt.Color, colours), (alt.StrokeDash, DASHES), (alt.Shape, SHAPES))
    )
    tooltip: list[Any] = ["line:N", alt.Tooltip("x:Q", title=titles["x"])]
    tips, run_tips = (
        [*tooltip, alt.Tooltip(f"{name}:Q", format=".2f", title=titles["value"]), extra]
        for name, extra in (("mean", "runs:Q"), ("value", "run:Q"))
    )
    base = alt.Chart(means).encode(x, y, coloured, tooltip=tips)
    runs = alt.Chart(points).encode(x, alt.Y("value:Q"), coloured, tooltip=run_tips)
    ringed = base.properties(data=means[means.x == means.line.map(dict(ringed_x))])
    layers = [
        base.mark_area(opacity=0.14).encode(alt.Y("low:Q"), alt.Y2("high:Q")),
        base.mark_rule(strokeWidth=1.5, opacity=0.45).encode(alt.Y("bottom:Q"), alt.Y2("top:Q")),
        runs.mark_point(size=14, filled=True, opacity=0.45),
        base.properties(data=_with_gaps(means)).mark_line(strokeWidth=2).encode(dash),
        *_bridge_layer(base, _bridges(means)),
        base.mark_point(size=55, filled=True, opacity=1).encode(shape),
        ringed.mark_point(size=190, filled=False, strokeWidth=1.5, opacity=1).encode(color=alt.value(palette["text"])),
        *_best_value(base, means, palette),
    ]
    ends = (
        means.groupby("line", sort=False).tail(1).assign(colour=lambda rows: rows.line.map(dict(zip(names, colours))))
    )
    layers += draw_labels(place_labels(ends, "place", "mean", span, height - AXIS, by="x"), "line", x, y, palette)
    chart = alt.layer(*layers).properties(height=height, padding={"right": 90, "left": 0, "top": 10, "bottom": 4})
    return style_axes(chart, palette)


def _bridge_layer(base: alt.Chart, bridges: pd.DataFrame) -> list[alt.Chart]:
    if bridges.empty:
        return []
    mark = base.properties(data=bridges).mark_rule(strokeWidth=1.2, strokeDash=[1, 4], opacity=0.8)
    return [mark.encode(alt.X2("place_to"), alt.Y2("mean_to"))]


def _best_value(base: alt.Chart, means: pd.DataFrame, palette: Mapping[str, str]) -> list[alt.Chart]:
    """The highest mean as a number beside its point, on the side where the plot is."""
    best = means.loc[[means["mean"].idxmax()]]
    is_last = bool(best.place.iloc[0] > means.place.mean())
    beside: dict[str, Any] = {"align": "right" if is_last else "left", "dx": -7 if is_last else 7, "dy": -11}
    top = base.properties(data=best).encode(color=alt.value(palette["text"]))
    halo = {"stroke": palette["page"], "strokeWidth": 4, "strokeJoin": "round"}
    return [_text(top, "mean:Q", format=".2f", **beside, **more) for more in (halo, {})]
