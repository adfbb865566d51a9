"""Test scores of checkpoints: a row a data set, a dot a checkpoint, a tick where guessing would be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.axis_style import style_axes
from triattn_core.views.lib.palette import THEMES

SELECTS = "score"
ROW = 23  # pixels of a data set
COLUMNS = ["set", "name", "mechanism", "colour", "score", "blind"]


def figure(rows: pd.DataFrame, chosen: str, theme: str = "light") -> alt.LayerChart:
    """The chart; a click on a dot selects its name under SELECTS.

    rows: of COLUMNS, in per cent; blind: the score without looking at the input, NaN where it is not known.  chosen:
    the name of the checkpoint whose dot is ringed.
    """
    palette = THEMES[theme]
    sets = list(dict.fromkeys(rows["set"]))
    axis = alt.Axis(ticks=False, domain=False, grid=True, labelLimit=200)
    y = alt.Y("set:N", sort=sets, title=None, axis=axis)
    x = alt.X("score:Q", title="%, test", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=6, grid=False))
    tips: list[Any] = ["name:N", "mechanism:N", alt.Tooltip("score:Q", format=".1f")]
    base = alt.Chart(rows).encode(y=y)
    blind = base.properties(data=rows.dropna(subset="blind").drop_duplicates("set"))
    ticks = blind.mark_tick(color=palette["muted"], thickness=2, size=13).encode(alt.X("blind:Q"))
    dots = base.mark_circle(size=85, opacity=0.85, cursor="pointer")
    dots = dots.encode(x, alt.Color("colour:N", scale=None), tooltip=tips)
    ring = base.transform_filter(alt.FieldEqualPredicate(field="name", equal=chosen))
    ring = ring.mark_point(size=190, stroke=palette["query"], strokeWidth=2, filled=False).encode(x)
    layers = (ticks, dots.add_params(alt.selection_point(name=SELECTS, fields=["name"])), ring)
    return style_axes(alt.layer(*layers).properties(height=ROW * len(sets)), palette)


def describe(rows: pd.DataFrame) -> str:
    """A sentence: the highest score of each data set, and the one without looking at the input."""
    parts = []
    for name, group in rows.groupby("set", sort=False):
        best, blind = group.loc[group["score"].idxmax()], group["blind"].iloc[0]
        guessed = "" if pd.isna(blind) else f", guessing {blind:.1f}"
        parts.append(f"{name}: {best['name']} {best['score']:.1f}{guessed}")
    return f"Highest test score of each set, in per cent. {'; '.join(parts)}."


def mechanisms(rows: pd.DataFrame) -> Sequence[tuple[str, str]]:
    """(mechanism, colour) of the dots; those of one colour as one."""
    by_colour = rows.drop_duplicates("mechanism").groupby("colour", sort=False)["mechanism"].agg(", ".join)
    return [(names, colour) for colour, names in by_colour.items()]
