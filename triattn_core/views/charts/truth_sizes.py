"""Laboratory models against the size of their task: accuracy, and weight on the truth; a dot a seed, chance dashed."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import titled
from triattn_core.views.charts.truth_scores import PANELS
from triattn_core.views.lib.palette import THEMES


def figure(
    rows: pd.DataFrame, measure: str, x_name: str, colours: Mapping[str, str], theme: str = "light"
) -> alt.LayerChart:
    """One panel: a line a model through the means over seeds.

    rows: `results.laboratory.COLUMNS`; colours: by mechanism.  The weight's floor differs from model to model: an even
    share of a cube's cells, or of two-way weights.
    """
    look, rows = THEMES[theme], rows[rows["measure"] == measure]
    kinds, sizes = dict(zip(rows["model"], rows["mechanism"])), sorted(set(rows["size"]))
    x = alt.X("size:Q", title=x_name, scale=alt.Scale(domain=[sizes[0] - 0.5, sizes[-1] + 0.5]),
              axis=alt.Axis(values=sizes, grid=False, format="d"))  # fmt: skip
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=5))
    scale = alt.Scale(domain=list(kinds), range=[colours[kind] for kind in kinds.values()])
    legend = alt.Legend(title=None, orient="top", labelColor=look["text"], labelLimit=240)
    colour = alt.Color("model:N", scale=scale, legend=legend)
    means = rows.groupby(["model", "size"], sort=False, as_index=False)[["value", "floor"]].mean()
    tips = ["model:N", "size:Q", "seed:O", alt.Tooltip("value:Q", format=".2f"), alt.Tooltip("floor:Q", format=".2f")]
    lines = alt.Chart(means).encode(x, y, colour).mark_line(strokeWidth=2)
    dots = alt.Chart(rows).encode(x, y, colour, tooltip=tips).mark_point(filled=True, size=60, opacity=0.9)
    chart = alt.layer(*_floors(means, measure, x, scale, look), lines, dots)
    return titled(chart.properties(width=380, height=200, title=PANELS[measure]), theme)


def _floors(means: pd.DataFrame, measure: str, x: alt.X, scale: alt.Scale, look: Mapping) -> list[alt.Chart]:
    """Chance, the same for all; or the even share of each model, in its colour."""
    encoded = alt.Chart(means).encode(x, alt.Y("floor:Q"))
    if measure == "accuracy":
        return [encoded.mark_line(color=look["muted"], strokeDash=[4, 3], strokeWidth=1.5)]
    coloured = encoded.encode(color=alt.Color("model:N", scale=scale))
    return [coloured.mark_line(strokeDash=[4, 3], strokeWidth=1.2, opacity=0.8)]


def describe(rows: pd.DataFrame, x_name: str) -> str:
    """A sentence: the mean accuracy of each model at each size, and chance."""
    accuracy = rows[rows["measure"] == "accuracy"]
    told = []
    for name, of_model in accuracy.groupby("model", sort=False):
        points = (f"{part['value'].mean():.1f} at {size}" for size, part in of_model.groupby("size"))
        told.append(f"{name} {', '.join(points)}")
    chance = (f"{part['floor'].mean():.1f} at {size}" for size, part in accuracy.groupby("size"))
    return f"Accuracy in % by {x_name}: {'; '.join(told)}. Dashed, chance: {', '.join(chance)}."
