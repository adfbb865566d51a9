"""How scores and runs spread (the T-trilinear paper): histograms of a function's scores (Figure 4), box plots of what
the runs of each function reached (Figures 3 and 5), and their loss curves (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from triattn_core.views.charts.axis_style import style_axes
from triattn_core.views.charts.layers import DASHES
from triattn_core.views.charts.line_labels import GAP, draw_labels, place_labels
from triattn_core.views.lib.number_format import minus
from triattn_core.views.lib.palette import THEMES
from triattn_core.views.similarity.spread import SOME

BINS = 40
BOX = 5  # runs: fewer are shown as they are, without a box
ROW = 24  # pixels of a function
AXIS = 52  # pixels of a chart's height that its axis and padding take


def edges(values: Sequence[np.ndarray], bins: int = BINS) -> np.ndarray:
    """[bins + 1] edges from the least to the greatest of all values, a unit around them where they are equal."""
    low, high = min(value.min() for value in values), max(value.max() for value in values)
    return np.linspace(low, high, bins + 1) if high > low else np.linspace(low - 0.5, high + 0.5, bins + 1)


def counts(values: np.ndarray, bin_edges: np.ndarray) -> pd.DataFrame:
    """Columns low, high, cells, share: a row a bin; the last one has its upper edge."""
    heights, _ = np.histogram(values, bin_edges)
    return pd.DataFrame(
        {"low": bin_edges[:-1], "high": bin_edges[1:], "cells": heights, "share": heights / values.size}
    )


def histogram(rows: pd.DataFrame, theme: str = "light", height: int = 130, top: float | None = None) -> alt.Chart:
    """From `counts`; empty bins stay empty.  top: the share at which the axis ends, by default where the bars do."""
    palette = THEMES[theme]
    x = alt.X(
        "low:Q",
        title=None,
        scale=_scale_between(rows.low.min(), rows.high.max()),
        axis=alt.Axis(tickCount=5, grid=False),
    )
    y_scale = _scale_between(0.0, top) if top else alt.Undefined
    y = alt.Y("share:Q", title=None, scale=y_scale, axis=alt.Axis(tickCount=3, format="%"))
    tips: list[Any] = [alt.Tooltip("low:Q", format=".3g"), alt.Tooltip("high:Q", format=".3g"), "cells:Q"]
    base = alt.Chart(rows[rows.cells > 0]).mark_rect(color=palette["bar"])
    return style_axes(
        base.encode(x, alt.X2("high:Q"), y, y2=alt.datum(0), tooltip=tips).properties(height=height), palette
    )


def describe_scores(row: Mapping) -> str:
    """A sentence on a histogram, from a row of `similarity.spread.numbers`."""
    ends = f"nine in ten lie between {row['5 %']:.3g} and {row['95 %']:.3g}, the median is {row['median']:.3g}"
    even = f"a passage word's weights are spread over {row['even']:.2f} of {row['of']} question words"
    beyond = row["beyond"]
    took = f", after the sentinel took {beyond:.1%} of the weight" if beyond >= SOME else ""
    return minus(f"{row['function']}: of {row['cells']:,} scores {ends}; {even}{took}.")


def compare_scores(rows: pd.DataFrame) -> tuple[str, str]:
    """Two sentences from `similarity.spread.numbers`: over how many question words the function with the sharpest
    weights spreads them, and the one with the most even ones; and how wide the scores of these two are."""
    share = rows["even"] / rows["of"]
    sharp, even = rows.loc[share.idxmin()], rows.loc[share.idxmax()]
    lead = f"A passage word spreads its attention over {sharp['even']:.1f} of {sharp['of']} question words"
    if len(rows) == 1:
        return f"{lead}.", ""
    wider = sharp["deviation"] > even["deviation"]
    told = "Wider scores, sharper attention" if wider else "Here the wider scores are not the sharper ones"
    widths = f"standard deviation {sharp['deviation']:.3g} against {even['deviation']:.3g}"
    return f"{lead} with {sharp['function']}, over {even['even']:.1f} with {even['function']}.", f"{told}: {widths}."


def describe_boxes(runs: pd.DataFrame, unit: str) -> str:
    """A sentence on the box plots: which function's mean is highest, which lowest, and over how many runs."""
    summaries = summary(runs).sort_values("mean", ascending=False)
    best, last = summaries.iloc[0], summaries.iloc[-1]
    sentence = f"mean {best['mean']:.2f} of {best['runs']} run{'s' * bool(best['runs'] > 1)}"
    if len(summaries) == 1:
        return f"{unit} of {best['function']}: {sentence}."
    if best["mean"] == last["mean"]:
        return f"{unit} of {len(summaries)} functions: {sentence}, all of them."
    sentence = f"{best['function']} is highest, {sentence}"
    return f"{unit} of {len(summaries)} functions: {sentence}; {last['function']} is lowest, {last['mean']:.2f}."


def describe_curves(rows: pd.DataFrame) -> str:
    """A sentence on the loss curves: which ends lowest, and where the others end."""
    last = rows.sort_values("step").groupby("checkpoint", sort=False).tail(1).sort_values("value")
    first, ends = last.iloc[0], f"{last.value.iloc[0]:.3f} to {last.value.iloc[-1]:.3f}"
    if len(last) == 1:
        return f"The loss of {first['function']} ends at {first['value']:.3f}, at step {first['step']:,}."
    return f"Losses of {len(last)} checkpoints end at {ends}; {first['function']} lowest, at step {first['step']:,}."


def box_plot(runs: pd.DataFrame, order: Sequence[str], unit: str, theme: str = "light") -> alt.LayerChart:
    """A row a function: its runs as dots; of several their mean as a ring, their median as a line; from `BOX` runs on
    a box of the quartiles, with whiskers to the least and the greatest.

    runs: columns function, value, seed, checkpoint.
    """
    palette = THEMES[theme]
    means = summary(runs)
    functions = list(dict.fromkeys(runs.function))
    names = [*(name for name in order if name in functions), *(name for name in functions if name not in order)]
    y = alt.Y("function:N", sort=names, title=None, axis=alt.Axis(grid=True, ticks=False, domain=False))
    least, greatest = float(runs.value.min()), float(runs.value.max())
    scale = alt.Scale(zero=False, nice=True)
    if least == greatest:  # else one tick, with six decimals
        scale = alt.Scale(zero=False, nice=True, domain=[least - 1, greatest + 1])
    x = alt.X("value:Q", title=unit, scale=scale, axis=alt.Axis(tickCount=6, grid=False))
    tips: list[Any] = [
        "function:N",
        alt.Tooltip("mean:Q", format=".2f"),
        alt.Tooltip("median:Q", format=".2f"),
        "runs:Q",
    ]
    base = alt.Chart(means).encode(y, tooltip=tips)
    boxed = base.properties(data=means[means.runs >= BOX])
    several = base.properties(data=means[means.runs > 1])
    # Not told apart by screen readers, which have the sentence and the runs: a mark without rows is no picture of them.
    untold: dict[str, Any] = {"aria": False}
    layers = [
        boxed.mark_rule(color=palette["bar"], **untold).encode(alt.X("least:Q", title=unit), alt.X2("greatest:Q")),
        boxed.mark_bar(size=12, fill=palette["faint"], stroke=palette["bar"], **untold).encode(
            alt.X("low:Q"), alt.X2("high:Q")
        ),
        alt.Chart(runs)
        .mark_point(size=36, filled=True, color=palette["accent"], opacity=0.75)
        .encode(x, y, tooltip=["function:N", alt.Tooltip("value:Q", format=".2f"), "seed:N", "checkpoint:N"]),
        several.mark_tick(thickness=2, size=14, color=palette["text"], **untold).encode(alt.X("median:Q")),
        several.mark_point(size=80, filled=False, color=palette["query"], **untold).encode(alt.X("mean:Q")),
    ]
    return style_axes(alt.layer(*layers).properties(height=ROW * len(names) + 48), palette)


def curves(rows: pd.DataFrame, highlighted: Sequence[str], theme: str = "light", height: int = 250) -> alt.LayerChart:
    """Loss over steps, a line a checkpoint, its function at its end: the chosen ones in dashes of their own, the others
    grey.

    rows: columns checkpoint, function, step, value; functions are told apart where several checkpoints have one.
    """
    palette = THEMES[theme]
    lit = [name for name in dict.fromkeys(rows.checkpoint) if name in highlighted]
    axis = alt.Axis(grid=False, tickCount=6, format="~s")
    x = alt.X("step:Q", title="step", scale=alt.Scale(nice=False), axis=axis)  # so that names begin where lines end
    low, high = float(rows.value.min()), float(rows.value.max())
    over = max(high - low, 1e-6) / 25  # above and below the lines
    low, high = low - over, high + over
    y = alt.Y("value:Q", title=None, scale=_scale_between(low, high), axis=alt.Axis(tickCount=5))
    tips: list[Any] = ["function:N", "checkpoint:N", "step:Q", alt.Tooltip("value:Q", format=".4f", title="loss")]
    dash = alt.StrokeDash("checkpoint:N", scale=alt.Scale(domain=lit, range=[*DASHES[: len(lit)]]), legend=None)
    base = alt.Chart(rows[rows.checkpoint.isin(lit)]).encode(x, y, detail="checkpoint:N", tooltip=tips)
    grey = base.properties(data=rows[~rows.checkpoint.isin(lit)])
    layers = [
        grey.mark_line(strokeWidth=1, color=palette["bar"], opacity=0.6),
        base.mark_line(strokeWidth=2, color=palette["accent"]).encode(dash),
        base.mark_point(size=22, filled=True, color=palette["accent"], opacity=1, aria=False),
    ]
    last = rows.groupby("checkpoint", sort=False).tail(1).sort_values("value", ascending=False)
    last = last.assign(named=[f"{name} {value:.2f}" for name, value in zip(last.function, last.value)])
    height = max(height, AXIS + int(GAP) * len(last))
    last = last.assign(bold=last.checkpoint.isin(lit))
    last = last.assign(colour=[palette["accent" if is_lit else "muted"] for is_lit in last.bold])
    placed = place_labels(last, "step", "value", (low, high), height - AXIS)
    layers += draw_labels(placed, "named", x, y, palette)
    padding = {"right": max(116, 34 + 7 * int(last.named.str.len().max())), "left": 0, "top": 6, "bottom": 4}
    return style_axes(alt.layer(*layers).properties(height=height, padding=padding), palette)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Columns function, least, low, median, high, greatest, mean, runs; low and high are the quartiles."""
    values = runs.groupby("function", sort=False).value
    quantiles = values.quantile([0, 0.25, 0.5, 0.75, 1]).unstack()
    quantiles.columns = ["least", "low", "median", "high", "greatest"]
    return quantiles.assign(mean=values.mean(), runs=values.size()).reset_index()


def _scale_between(low: float, high: float) -> alt.Scale:
    return alt.Scale(domain=[float(low), float(high)], nice=False)
