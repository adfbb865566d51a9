"""Right or wrong, and looked there or not: what share of rows a laboratory model spends on each, a bar a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from triattn_core.views.charts.grids import with_titles
from triattn_core.views.lib.palette import THEMES

SHORTCUT = "right, did not look"
COLOURS = {"right, looked": "accent", SHORTCUT: "context", "wrong, looked": "bar", "wrong, did not look": "hairline"}
MEASURES = {
    "accuracy": "Accuracy, %",
    "mass": "Weight on truth, %",
    "mass_over_even": "Over its even share",
    "hit_at_1": "Strongest cell true, %",
    "first_rank": "Rank of first true cell",
    "average_precision": "Area under precision–recall, %",
}


def table(models: Mapping[str, tuple[str, Sequence[Mapping]]]) -> pd.DataFrame:
    """Rows `model, seed`, MEASURES by their titles, and the quadrants in per cent; models: as of `truth_scores.table`.

    Quadrants are NaN of a model whose rows were measured without them.
    """
    rows = [
        {"model": name, "seed": seed}
        | {title: test[measure] for measure, title in MEASURES.items()}
        | {quadrant: test.get("quadrants", {}).get(quadrant) for quadrant in COLOURS}
        for name, (_, tests) in models.items()
        for seed, test in enumerate(tests, 1)
    ]
    return pd.DataFrame(rows, columns=["model", "seed", *MEASURES.values(), *COLOURS]).astype(
        dict.fromkeys(COLOURS, float)
    )


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """The means over seeds of `table`, a row a model."""
    return rows.drop(columns="seed").groupby("model", sort=False, as_index=False).mean()


def figure(rows: pd.DataFrame, theme: str = "light") -> alt.LayerChart:
    """A stacked bar a model, of the means over seeds; rows: `table`."""
    palette, names = THEMES[theme], list(dict.fromkeys(rows["model"]))
    long = means(rows).melt("model", list(COLOURS), "quadrant", "share").dropna()
    long["order"] = long["quadrant"].map(list(COLOURS).index)
    scale = alt.Scale(domain=list(COLOURS), range=[palette[name] for name in COLOURS.values()])
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelColor=palette["text"], labelLimit=200)
    y = alt.Y("model:N", sort=names, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=220))
    x = alt.X("sum(share):Q", title=None, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=5, grid=False))
    bars = alt.Chart(long).mark_bar(size=14, stroke=palette["page"], strokeWidth=1)
    bars = bars.encode(
        x,
        y,
        alt.Color("quadrant:N", scale=scale, legend=legend),
        alt.Order("order:Q"),
        tooltip=["model:N", "quadrant:N", alt.Tooltip("share:Q", format=".1f")],
    )
    title = "rows with a true cell, %: answer, and whether the strongest cell is true"
    return with_titles(alt.layer(bars).properties(width=420, height=alt.Step(24), title=title), theme)


def describe(rows: pd.DataFrame) -> str:
    """A sentence: how often each model is right without looking."""
    shares = means(rows).dropna().set_index("model")[SHORTCUT].sort_values(ascending=False, kind="stable")
    shares_text = "; ".join(f"{name} {share:.1f} %" for name, share in shares.items())
    return f"Right without looking, of the rows with a true cell: {shares_text}."
