"""Attribution methods on laboratory rows: how often each finds the planted pair, a dot a model, chance as a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import with_titles
from triattn_core.views.lib.palette import THEMES

COLUMNS = ["model", "mechanism", "method", "role", "trained", "untrained", "chance"]
Report = Mapping[str, Any]
PAIR = "pair"
MARKS = ("circle", "square", "diamond", "triangle-up")


def table(models: Mapping[str, tuple[str, Report]]) -> pd.DataFrame:
    """Rows `COLUMNS`, in per cent; models: name → (mechanism, report of `known_truth.try_instruments`)."""
    rows = [
        [name, mechanism, method, role, share, report["untrained"][method][role], report["trained"]["chance"][role]]
        for name, (mechanism, report) in models.items()
        for method, shares in report["trained"].items()
        if method != "chance"
        for role, share in shares.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def figure(rows: pd.DataFrame, colours: Mapping[str, str], theme: str = "light") -> alt.LayerChart:
    """A row a method, a mark a model, a hollow one untrained; a tick at chance.

    colours: by mechanism; models of one mechanism differ in their marks.
    """
    palette, rows = THEMES[theme], rows[rows["role"] == PAIR]
    kinds, names = dict(zip(rows["model"], rows["mechanism"])), list(dict.fromkeys(rows["method"]))
    scale = alt.Scale(domain=list(kinds), range=[colours[kind] for kind in kinds.values()])
    legend = alt.Legend(title=None, orient="top", labelColor=palette["text"], labelLimit=240, columns=3)
    colour = alt.Color("model:N", scale=scale, legend=legend)
    of_mechanism = [list(kinds.values())[:i].count(kind) for i, kind in enumerate(kinds.values())]
    marks = alt.Scale(domain=list(kinds), range=[MARKS[place % len(MARKS)] for place in of_mechanism])
    shape = alt.Shape("model:N", scale=marks, legend=legend)
    axis = alt.Axis(ticks=False, domain=False, grid=True, labelLimit=220, labelPadding=10)
    y = alt.Y("method:N", sort=names, title=None, axis=axis)
    x = alt.X("trained:Q", title=None, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=5))
    tips: list[Any] = ["model:N", "method:N", *(alt.Tooltip(f"{name}:Q", format=".1f") for name in COLUMNS[4:])]
    base = alt.Chart(rows).encode(y=y, tooltip=tips)
    chance = base.encode(alt.X("mean(chance):Q"), tooltip=alt.Undefined).mark_tick(
        color=palette["muted"], thickness=2, size=16
    )
    hollow = base.encode(alt.X("untrained:Q"), colour, shape).mark_point(filled=False, size=44, opacity=0.7)
    dots = base.encode(x, colour, shape).mark_point(filled=True, size=80, opacity=0.9)
    title = "true pair found, % of rows; hollow: untrained; tick: chance"
    return with_titles(alt.layer(chance, hollow, dots).properties(width=420, height=alt.Step(26), title=title), theme)


def describe(rows: pd.DataFrame) -> str:
    """A sentence: of the model whose pair is found most often, how often by each method."""
    pairs = rows[rows["role"] == PAIR]
    if pairs.empty:
        return "No method scores key and context token both."
    best = pairs.loc[pairs["trained"].idxmax(), "model"]
    of_best = pairs[pairs["model"] == best].sort_values("trained", ascending=False, kind="stable")
    shares = ", ".join(f"{row.method} {row.trained:.0f} %" for row in of_best.itertuples())
    return f"True pair found in {best}: {shares} (chance {of_best['chance'].iloc[0]:.1f} %)."
