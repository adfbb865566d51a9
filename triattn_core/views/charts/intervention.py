"""An intervention beside the original: maps before, after and their difference; units one by one; draws of a null."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.views.charts.grids import (
    cells_of,
    dashes,
    signed_colour,
    token_axis,
    weights,
    with_style,
    with_titles,
)
from triattn_core.views.lib.labels import labels_of
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import DIFFERENCE, DIVERGING, THEMES, LogScale, Scale, SignedScale

RESOLUTION = 1e-5  # log-odds: single precision leaves up to 6e-7 of removals of nothing
SAME = 1e-6  # of two weights: below, a difference is rounding
WIDE = 900  # pixels of a figure on a page, more or less
LETTER, LINE = 8, 13  # pixels that a letter of a label and a leaning label take
NUMBER, SMALL = 6.6, 5.9  # pixels that a character of a number above a bar takes, and of a small one


def maps(
    before: xr.DataArray, after: xr.DataArray, labels: tuple[Sequence[str], Sequence[str]], theme: str = "light"
) -> alt.HConcatChart:
    """Weights [query, key], summed over context, on one scale, and after less before.  labels: of queries and keys."""
    chart = alt.hconcat(*_grids(before, after, labels, theme), spacing=22).resolve_scale(color="independent")
    return with_titles(chart, theme)


def separate_map(
    number: int,
    before: xr.DataArray,
    after: xr.DataArray,
    labels: tuple[Sequence[str], Sequence[str]],
    theme: str = "light",
) -> alt.HConcatChart:
    """One of the three of `maps`, for a page that puts them below each other where it is narrow.

    number: 0 before, 1 after, 2 after less before.
    """
    grid = next(islice(_grids(before, after, labels, theme), number, None))
    # A row of one: Streamlit squeezes a figure that stands alone, axes included, into its height.
    return with_titles(alt.hconcat(grid), theme)


def _grids(
    before: xr.DataArray, after: xr.DataArray, labels: tuple, theme: str
) -> Iterator[alt.Chart | alt.LayerChart]:
    palette, scale = THEMES[theme], weights(np.stack([before.values, after.values]), before.shape[1], theme)
    gap = after.copy(data=after.values - before.values)
    limit = float(np.abs(gap.values).max(initial=SAME))
    size = max(11, min(26, 300 // max(before.shape)))
    cell_width = max(11, min(30, 270 // max(before.shape[1], 1)))
    y, x = token_axis("query", labels[0]), token_axis("key", labels[1], orient="top", labelAngle=-45)
    for title, values in (("before", before), ("after", after), ("after − before", gap)):
        less = values is gap
        colour = signed_colour(limit, theme, DIFFERENCE) if less else scale
        tip = alt.Tooltip("value:Q", format="+.3g" if less else ".3g")
        rows, tips = cells_of(values, labels), ["query_word:N", "key_word:N", tip]
        grid: Any = (
            alt.Chart(rows).mark_rect(stroke=palette["page"], strokeWidth=0.6).encode(x, y, colour, tooltip=tips)
        )
        grid = alt.layer(grid, dashes(rows, x, y, limit, theme, DIFFERENCE)) if less else grid
        yield grid.properties(title=title, width=cell_width * values.shape[1], height=size * values.shape[0])


def map_marks(
    before: xr.DataArray, after: xr.DataArray, labels: tuple[Sequence[str], Sequence[str]]
) -> tuple[MapMark, ...]:
    """The maps of `maps` for print."""
    gap = after.values - before.values
    scale = LogScale.fit(np.stack([before.values, after.values]), before.shape[1])
    change = SignedScale(float(np.abs(gap).max(initial=SAME)), DIFFERENCE, "change of weight")
    shown: list[tuple[str, np.ndarray, Scale]] = [
        ("before", before.values, scale),
        ("after", after.values, scale),
        ("after − before", gap, change),
    ]
    largest = np.maximum(before.values, after.values)
    rows, columns = (labels_of(words, largest.max(1 - axis)) for axis, words in enumerate(labels))
    return tuple(
        MapMark(title, ("query", "key"), rows, columns, fit.levels(values), fit, None, (0, i))
        for i, (title, values, fit) in enumerate(shown)
    )


def cells(before: xr.DataArray, after: xr.DataArray, labels: tuple[Sequence[str], Sequence[str]]) -> pd.DataFrame:
    """A row for each cell of `maps`: before, after, difference."""
    rows = cells_of(before, labels).rename(columns={"value": "before"})
    rows["after"] = cells_of(after, labels)["value"]
    return rows.assign(difference=rows["after"] - rows["before"])


def unit_bars(
    table: pd.DataFrame,
    labels: Sequence[str],
    selected: Sequence[str],
    theme: str = "light",
    width: int | None = None,
    measure: str = "change",
) -> alt.LayerChart:
    """What each unit does alone, as bars with their numbers: the `change` of the log-odds, or how far it `moved`
    attention.  The chosen units are framed, and where the answer flips the number of a change says so.  A change below
    RESOLUTION has no bar and no number.

    table: of `leave_one_out.score_units`.  labels: of its rows, as the user knows them.  width: pixels, None: the
    page's.
    """
    palette, colours = THEMES[theme], DIVERGING[theme]
    rows = _bars(table, measure).assign(word=list(labels), chosen=table["unit"].isin(list(selected)).tolist())
    band = (width or WIDE) / len(rows)
    leaning = band < max(7 * NUMBER, LETTER * min(max(map(len, labels)), 16))
    x = token_axis("key", labels, orient="bottom", labelAngle=-45 if leaning else 0, labelOverlap=band < LINE)
    # Of one width, so that the bars of two such figures stand below each other.
    axis = alt.Axis(tickCount=3, grid=False, format="+.3~r" if measure == "change" else ".3~r", minExtent=44)
    y = alt.Y("value:Q", title=None, axis=axis, scale=_with_room(rows))
    tips: list[Any] = [
        "unit:N",
        alt.Tooltip("word:N", title="text"),
        alt.Tooltip("value:Q", title=measure, format=".3"),
        "flips:N",
    ]
    base = alt.Chart(rows).encode(x, y, tooltip=tips)
    framed = {"stroke": alt.condition("datum.chosen", alt.value(palette["query"]), alt.value("transparent"))}
    colour: Any = alt.condition("datum.value < 0", alt.value(colours[1]), alt.value(colours[3]))
    colour = colour if measure == "change" else alt.value(palette["bar"])
    bars = base.mark_bar(strokeWidth=2, width={"band": 0.55}).encode(color=colour, **framed)
    zero = alt.Chart(pd.DataFrame({"value": [0]})).mark_rule(color=palette["muted"]).encode(y)
    size = {"height": 190 if leaning else 130} | ({"width": width} if width else {})
    return with_style(alt.layer(bars, zero, *_bar_numbers(base, rows, palette["text"])).properties(**size), theme)


def _bar_numbers(base: alt.Chart, rows: pd.DataFrame, colour: str) -> list[alt.Chart]:
    """The numbers above bars that point up, and below those that point down.

    How wide the page really is, the browser knows.  Where numbers would run together they are smaller, and the lesser
    of two neighbours has none: its bar and the table say it.  The first and the last stand beside the axis and the
    edge, not on them.
    """
    free = f"width / {len(rows)}"
    half, center = f"{NUMBER / 2} * length(datum.said) + 3", f"{free} * (datum.key + 0.5)"
    fits: dict[str, Any] = {
        "dx": alt.expr(f"max(0, {half} - {center}) - max(0, {half} - (width - {center}))"),
        "fontSize": alt.expr(f"{free} * {rows.room.min():.4g} < {NUMBER} ? 10 : 11"),
        "opacity": alt.expr(f"{free} * datum.room < {SMALL} ? 0 : 1"),
    }
    sides = (("datum.value >= 0", -8), ("datum.value < 0", 9))
    return [
        base.transform_filter(side).mark_text(**fits, dy=dy, color=colour).encode(text="said:N") for side, dy in sides
    ]


def is_resolved(change: pd.Series) -> pd.Series:
    """Which changes of the log-odds are more than rounding."""
    return change.abs() >= RESOLUTION


def _bars(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The column as `value`, and as it is `said` above its bar, to two figures of the largest: nothing of what rounds
    to none."""
    rows = pd.DataFrame(
        {"key": range(len(table)), "unit": table["unit"], "value": table[measure], "flips": table["flips"]}
    )
    if measure == "change":
        rows["value"] = rows.value.where(is_resolved(rows.value), 0.0)
    else:
        rows["flips"] = False
    most, sign = rows.value.abs().max(), "+" if measure == "change" else ""
    digits = 2 if most <= 0 else max(2, 1 - int(np.floor(np.log10(most))))
    labels = [f"{value:{sign}.{digits}f}".replace("-", "−") * bool(round(value, digits)) for value in rows.value]
    rows = rows.assign(said=[label + " flips" * flips for label, flips in zip(labels, rows.flips)])
    return rows.assign(room=_room(rows))


def _room(rows: pd.DataFrame) -> list[float]:
    """How far the number of each bar is from that of the nearest longer one on its side, in bars for each character
    of both; one at an end of the figure is moved inwards, which leaves less."""
    sizes, lengths = rows.value.abs().tolist(), rows.said.map(len).tolist()
    sides = (rows.value < 0).tolist()
    room, last = [float(len(rows))] * len(rows), len(rows) - 1
    for i, j in permutations(range(len(rows)), 2):
        if sides[i] == sides[j] and lengths[i] and lengths[j] and (sizes[j], -j) > (sizes[i], -i):
            room[i] = min(room[i], 2 * abs(i - j) / (lengths[i] + lengths[j] + 1))
            for inner, outer, bars in ((max(i, j), min(i, j), max(i, j)), (min(i, j), max(i, j), last - min(i, j))):
                room[i] = min(room[i], (bars + 0.5) / (lengths[outer] + lengths[inner] / 2 + 0.5))
    return room


def _with_room(rows: pd.DataFrame) -> alt.Scale:
    """A scale with room for the numbers at the ends."""
    low, high = min(0.0, rows.value.min()), max(0.0, rows.value.max())
    room = 0.3 * max(high - low, 1e-9)
    return alt.Scale(domain=[low - room * (low < 0), high + room * (high > 0)], nice=False)


def draws(
    log_odds: Sequence[float], original: float, theme: str = "light", two: bool = True, width: int | None = None
) -> alt.LayerChart:
    """The log-odds of the original answer under each draw as a tick, their mean as a long one, the original as a
    diamond.  two: of two answers, where left of a line at 0 it is the other; among several 0 is no such border.
    width: pixels, None: the page's."""
    palette, name = THEMES[theme], "draws" if len(log_odds) > 1 else "replaced"
    rows = pd.DataFrame({"odds": log_odds, "draw": range(1, len(log_odds) + 1), "row": name})
    axis = alt.Axis(grid=False, tickCount=7)
    x = alt.X(
        "odds:Q", title="log-odds of the answer", axis=axis, scale=_scale_around([*log_odds, original, *[0.0] * two])
    )
    y = alt.Y("row:N", title=None, sort=[name, "original"], axis=alt.Axis(ticks=False, domain=False))
    tips: list[Any] = ["draw:Q", alt.Tooltip("odds:Q", format="+.3f", title="log-odds")]
    ticks = alt.Chart(rows).mark_tick(thickness=1.5, height=16, opacity=0.7, color=palette["bar"])
    mean = alt.Chart(pd.DataFrame({"odds": [float(np.mean(log_odds))], "row": name}))
    diamond = alt.Chart(pd.DataFrame({"odds": [original], "row": "original"}))
    zero = alt.Chart(pd.DataFrame({"odds": [0]})).mark_rule(strokeDash=[4, 3], color=palette["muted"]).encode(x)
    layers = [
        *[zero] * two,
        ticks.encode(x, y, tooltip=tips),
        mean.mark_tick(thickness=2.5, height=26, color=palette["text"]).encode(x, y),
        diamond.mark_point(shape="diamond", filled=True, size=90, opacity=1, color=palette["query"]).encode(x, y),
    ]
    size = {"height": 112} | ({"width": width} if width else {})
    return with_style(alt.layer(*layers).properties(**size), theme)


def _scale_around(ends: Sequence[float]) -> alt.Scale:
    room = 0.05 * (max(ends) - min(ends) or 1.0)
    return alt.Scale(domain=[min(ends) - room, max(ends) + room], nice=False)
