"""The head atlas: heads by how alike their maps are, and the weight of words by head or by feature."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from triattn_core.views.charts.grids import with_style
from triattn_core.views.lib.palette import SEQUENTIAL, THEMES

SIDE = 330  # pixels of the map of heads
MOST_NAMED = 36  # heads that stand with their names on the axes


def likeness(
    distances: np.ndarray, order: np.ndarray, names: Sequence[str], head: int, theme: str = "light"
) -> alt.LayerChart:
    """Heads × heads in an order in which near ones stand together, dark where two have the same maps; the chosen head
    is framed on the diagonal, a click on a row sends `head`, its position.

    distances: [heads, heads], 0 to 1.  order: positions of the heads.  names: of each head.
    """
    palette, places = THEMES[theme], list(map(int, order))
    row, column = (index.ravel() for index in np.indices(distances.shape))
    cells = pd.DataFrame(
        {
            "down": row,
            "across": column,
            "head": np.array(places)[row],
            "one": np.array(names, object)[np.array(places)[row]],
            "other": np.array(names, object)[np.array(places)[column]],
            "distance": distances[np.ix_(places, places)].ravel(),
        }
    )
    label_axis: alt.Axis | None = alt.Axis(
        labelExpr=_names([names[i] for i in places]), ticks=False, domain=False, labelOverlap=False
    )
    label_axis = label_axis if len(names) <= MOST_NAMED else None
    size = min(44, SIDE / len(names))
    x, y = (alt.X("across:O", axis=None, title=None), alt.Y("down:O", axis=label_axis, title=None))
    scale = alt.Scale(domain=[0, 1], range=SEQUENTIAL[theme][::-1], clamp=True, interpolate="lab")
    legend = alt.Legend(title="distance of two heads", orient="bottom", direction="horizontal", gradientLength=170)
    click = alt.selection_point(name="head", fields=["head"], toggle=False)
    tips: list[Any] = ["one:N", "other:N", alt.Tooltip("distance:Q", format=".3f")]
    cells_drawn = (
        alt.Chart(cells).mark_rect().encode(x, y, alt.Color("distance:Q", scale=scale, legend=legend), tooltip=tips)
    )
    diagonal = cells[(cells["head"] == head) & (cells["down"] == cells["across"])]
    frame = alt.Chart(diagonal).mark_rect(filled=False, stroke=palette["query"], strokeWidth=2.5).encode(x, y)
    chart = alt.layer(cells_drawn.add_params(click), frame).properties(
        width=size * len(names), height=size * len(names)
    )
    return with_style(chart, theme)


def describe_likeness(distances: np.ndarray, names: Sequence[str]) -> str:
    """A sentence: which two heads are nearest, and which is farthest from its nearest."""
    if len(names) < 2:
        return f"One head, {names[0]}: there is none to compare it with."
    others = distances + 2 * np.eye(len(names))
    first, other = (int(i) for i in np.unravel_index(others.argmin(), others.shape))
    alone = int(others.min(1).argmax())
    return (
        f"Nearest: {names[first]} and {names[other]}, {distances[first, other]:.2f} apart; 0 is the same maps, 1 maps "
        f"that never overlap. Most distinct: {names[alone]}, {others[alone].min():.2f} from its nearest."
    )


def bands(rows: pd.DataFrame, label: str, unit: str, theme: str = "light") -> alt.LayerChart:
    """What words get, a point a head or a feature, on the band of other places of the same rows; beyond it in colour.

    rows: `name`, `mean`, `even`, `low`, `high` and `p`, in the order in which they are drawn.  label: of the axis.
    """
    palette = THEMES[theme]
    rows = rows.assign(beyond=(rows["mean"] < rows["low"]) | (rows["mean"] > rows["high"]))
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=160))
    title = f"{label}, {unit}" if unit else label
    tips: list[Any] = [
        "name:N",
        *(alt.Tooltip(f"{name}:Q", format=".3g") for name in ("mean", "even", "low", "high", "p")),
    ]
    base = alt.Chart(rows).encode(y, tooltip=tips)
    x = alt.X("mean:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6, format=".2~g"))
    fill = alt.condition("datum.beyond", alt.value(palette["query"]), alt.value(palette["muted"]))
    layers = [
        base.mark_bar(height=9, color=palette["bar"]).encode(
            alt.X("low:Q", title=title, scale=alt.Scale(zero=False)), alt.X2("high:Q")
        ),
        base.mark_tick(height=13, thickness=1.5, color=palette["text"]).encode(alt.X("even:Q", title=title)),
        base.mark_point(filled=True, size=62, opacity=1).encode(x, color=fill),
    ]
    return with_style(alt.layer(*layers).properties(width=420, height=alt.Step(19)), theme)


def describe_bands(rows: pd.DataFrame, words: Sequence[str], measure: str) -> str:
    """A sentence: how many are beyond the band, how many would be by chance, and which is farthest."""
    beyond = int(((rows["mean"] < rows["low"]) | (rows["mean"] > rows["high"])).sum())
    ratio = (rows["mean"] / rows["even"].where(rows["even"] > 0)).fillna(1.0)
    far = np.log(ratio.clip(1e-6)).abs().idxmax()
    top = rows.loc[far]
    first = rows.iloc[0]
    return (
        f"{', '.join(words)}: {first['places']} places in {first['rows']} rows. Beyond the band: {beyond} of "
        f"{len(rows)} {measure}, where chance gives {len(rows) * 0.05:.1f}. Farthest: {top['name']}, "
        f"{top['mean']:.3g}, {ratio[far]:.2f} times the mean of other places (p {top['p']:.2g})."
    )


def _names(names: Sequence[str]) -> str:
    """The labels of positions as a Vega expression."""
    return f"({json.dumps(list(names))})[datum.value]"
