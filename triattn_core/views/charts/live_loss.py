"""The training loss of a run that is under way, over all of its steps; a line where guessing would be."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import with_titles
from triattn_core.views.lib.palette import THEMES


def guesses(labels: int, chance: float) -> dict[str, float]:
    """By what is known, the loss of guessing: any of the `labels`; and, where that is another, of as few as a `chance`
    in per cent leaves."""
    few = round(100 / chance)
    return {f"any of {labels} answers": log(labels)} | ({f"any of {few}": log(few)} if few < labels else {})


def figure(
    rows: pd.DataFrame, steps: int, levels: Mapping[str, float], colour: str, theme: str = "light"
) -> alt.LayerChart:
    """rows: `step, loss`; levels: of `guesses`."""
    palette = THEMES[theme]
    x = alt.X("step:Q", title="step", scale=alt.Scale(domain=[0, steps]), axis=alt.Axis(grid=False, tickCount=5))
    scale = alt.Scale(domain=[0, 1.25 * max(levels.values())], clamp=True)
    y = alt.Y("loss:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4))
    tips: list[Any] = ["step:Q", alt.Tooltip("loss:Q", format=".3f")]
    dots = {"size": 18, "color": colour}
    line = alt.Chart(rows).encode(x, y, tooltip=tips).mark_line(color=colour, strokeWidth=2, point=dots)
    level = alt.Chart(pd.DataFrame({"loss": list(levels.values()), "name": [f"guessing {name}" for name in levels]}))
    rule = level.mark_rule(color=palette["muted"], strokeDash=[4, 3]).encode(y)
    name = level.mark_text(align="right", dx=-4, dy=-7, color=palette["muted"], fontSize=11.5)
    layers = alt.layer(rule, name.encode(y, x=alt.value(400), text="name:N"), line)
    return with_titles(layers.properties(width=400, height=190, title="training loss"), theme)


def describe(rows: pd.DataFrame, levels: Mapping[str, float]) -> str:
    """A sentence: the last loss, and those of guessing."""
    guessing = ", ".join(f"{name} {loss:.3f}" for name, loss in levels.items())
    if rows.empty:
        return f"No training loss yet; guessing: {guessing}."
    last = rows.iloc[-1]
    return f"Training loss {last.loss:.3f} after step {last.step:,.0f}; guessing: {guessing}."
