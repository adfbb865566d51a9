"""Laboratory models over held-out rows: accuracy, and weight on the truth, a dot a seed, chance as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import with_titles
from triattn_core.views.lib.palette import THEMES

PANELS = {"accuracy": "accuracy, %", "mass": "weight on true cells, %"}
FLOORS = {"accuracy": "chance", "mass": "even_share"}


def table(models: Mapping[str, tuple[str, Sequence[Mapping]]]) -> pd.DataFrame:
    """Rows `model, mechanism, seed, measure, value, floor`; models: name → (mechanism, `test` of each seed)."""
    rows = [
        {"model": name, "mechanism": kind, "seed": i, "measure": measure, "value": test[measure], "floor": test[floor]}
        for name, (kind, tests) in models.items()
        for i, test in enumerate(tests, 1)
        for measure, floor in FLOORS.items()
    ]
    return pd.DataFrame(rows, columns=["model", "mechanism", "seed", "measure", "value", "floor"])


def figure(rows: pd.DataFrame, measure: str, colours: Mapping[str, str], theme: str = "light") -> alt.LayerChart:
    """One panel: a row a model, a dot a seed; a tick where guessing, or even weights, would be.

    colours: by mechanism.
    """
    palette, names = THEMES[theme], list(dict.fromkeys(rows["model"]))
    rows = rows[rows["measure"] == measure]
    kinds = list(dict.fromkeys(rows["mechanism"]))
    x = alt.X("value:Q", title=None, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=5))
    y = alt.Y("model:N", sort=names, title=None, axis=alt.Axis(ticks=False, domain=False, grid=True, labelLimit=220))
    scale = alt.Scale(domain=kinds, range=[colours[kind] for kind in kinds])
    tips: list[Any] = ["model:N", "seed:O", alt.Tooltip("value:Q", format=".2f"), alt.Tooltip("floor:Q", format=".2f")]
    base = alt.Chart(rows).encode(y=y, tooltip=tips)
    floor = base.encode(alt.X("floor:Q")).mark_tick(color=palette["muted"], thickness=2, size=16)
    dots = base.encode(x, alt.Color("mechanism:N", scale=scale, legend=None)).mark_point(
        filled=True, size=80, opacity=0.9
    )
    chart = alt.layer(floor, dots).properties(width=420, height=alt.Step(24), title=PANELS[measure])
    return with_titles(chart, theme)


def describe(rows: pd.DataFrame) -> str:
    """A sentence: the lowest accuracy over seeds of the best model, and the highest of the others' best."""
    means = rows[rows["measure"] == "accuracy"].groupby("model", sort=False)["value"].mean()
    if means.empty:
        return ""
    means_text = "; ".join(f"{name} {value:.1f} %" for name, value in means.sort_values(ascending=False).items())
    return f"Mean accuracy over seeds: {means_text}. A grey tick is chance, or the share of even weights."
