"""The training loss of a run that is under way, over all of its steps; a line where guessing would be."""

from __future__ import annotations

from math import log

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import titled
from triattn_core.views.lib.palette import THEMES


def figure(rows: pd.DataFrame, steps: int, labels: int, colour: str, theme: str = "light") -> alt.LayerChart:
    """rows: `step, loss`; labels: how many answers there are."""
    look, guess = THEMES[theme], log(labels)
    x = alt.X("step:Q", title="step", scale=alt.Scale(domain=[0, steps]), axis=alt.Axis(grid=False, tickCount=5))
    y = alt.Y("loss:Q", title=None, scale=alt.Scale(domain=[0, 1.25 * guess], clamp=True), axis=alt.Axis(tickCount=4))
    tips = ["step:Q", alt.Tooltip("loss:Q", format=".3f")]
    dots = {"size": 18, "color": colour}
    line = alt.Chart(rows).encode(x, y, tooltip=tips).mark_line(color=colour, strokeWidth=2, point=dots)
    level = alt.Chart(pd.DataFrame({"loss": [guess]})).encode(y)
    rule = level.mark_rule(color=look["muted"], strokeDash=[4, 3])
    name = level.mark_text(text="guessing", align="left", dy=-7, color=look["muted"], fontSize=11.5)
    layers = alt.layer(rule, name.encode(x=alt.value(340)), line)
    return titled(layers.properties(width=400, height=190, title="training loss"), theme)


def describe(rows: pd.DataFrame, labels: int) -> str:
    """A sentence: the last loss, and that of guessing."""
    if rows.empty:
        return f"No training loss yet; guessing has {log(labels):.3f}."
    last = rows.iloc[-1]
    return f"Training loss {last.loss:.3f} after step {last.step:,.0f}; guessing has {log(labels):.3f}."
