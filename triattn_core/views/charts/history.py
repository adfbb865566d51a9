"""The loss while training: dev as a line with its kept point, train as a thin line behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.axis_style import style_axes
from triattn_core.views.charts.line_labels import draw_labels, place_labels
from triattn_core.views.lib.palette import THEMES

COLUMNS = ("train_loss", "dev_loss")
PADDING = {"right": 8, "left": 0, "top": 4, "bottom": 6}
AXIS = 50  # pixels of the height that the axis takes
DASHES = ([1, 0], [5, 3], [2, 2], [9, 3, 2, 3], [9, 3], [1, 3])  # told apart without colour


def table(histories: Mapping[str, Sequence[Mapping]]) -> pd.DataFrame:
    """Rows `model, split, step, loss` of the `history` in each metrics.json, without what was not measured."""
    rows = [
        {"model": name, "split": column.removesuffix("_loss"), "step": entry["step"], "loss": entry[column]}
        for name, history in histories.items()
        for entry in history
        for column in COLUMNS
        if entry.get(column) is not None
    ]
    return pd.DataFrame(rows, columns=["model", "split", "step", "loss"])


def _domain(rows: pd.DataFrame) -> list[float]:
    """Of the loss axis: the losses, with more room below them, so that the axis crosses no name."""
    low, high = float(rows.loss.min()), float(rows.loss.max())
    room = max(high - low, 1e-6) / 20
    return [low - 2 * room, high + room]


def describe(histories: Mapping[str, Sequence[Mapping]]) -> str:
    """A sentence: the lowest loss on dev, or where none was measured on train, of each model, and its step."""
    rows = table(histories)
    split = "dev" if (rows["split"] == "dev").any() else "train"
    best = rows[rows["split"] == split].sort_values("loss", kind="stable").groupby("model", sort=False).head(1)
    ends = "; ".join(f"{row.model} {row.loss:.3f} at step {row.step:,}" for row in best.itertuples())
    return f"Lowest loss on {split}: {ends}."


def figure(
    histories: Mapping[str, Sequence[Mapping]],
    colours: Mapping[str, str],
    kept: Mapping[str, int | None],
    theme: str = "light",
    height: int = 190,
) -> alt.LayerChart:
    """Loss over steps. For each model its colour and dashes; and the step whose weights were kept."""
    rows = table(histories)
    palette = THEMES[theme]
    names = list(histories)
    is_crowded = len(names) > 2  # more names than find room at the ends of the lines
    scale = alt.Scale(nice=is_crowded)  # names begin where lines end: no grid line crosses them
    steps = alt.X("step:Q", title="step", scale=scale, axis=alt.Axis(grid=False, tickCount=6, format="~s"))
    domain, loss_scale = _domain(rows), alt.Scale(zero=False)
    loss_scale = loss_scale if is_crowded else alt.Scale(domain=domain, nice=False)
    loss = alt.Y("loss:Q", title=None, scale=loss_scale, axis=alt.Axis(tickCount=5))
    legend_options: dict[str, Any] = {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2}
    legend_options |= {"labelColor": palette["text"]}
    legend = alt.Legend(title=None, orient="top", labelLimit=320, columns=2, **legend_options) if is_crowded else None
    range_ = [colours[name] for name in names]
    colour = alt.Color("model:N", scale=alt.Scale(domain=names, range=range_), legend=legend)
    dash = alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=list(DASHES[: len(names)])), legend=legend)
    sizes = [70 + 60 * (len(names) - 1 - 2 * i) / len(names) for i in range(len(names))]  # one under another is seen
    size = alt.Size("model:N", scale=alt.Scale(domain=names, range=sizes), legend=None)
    tips: list[Any] = ["model:N", "split:N", "step:Q", alt.Tooltip("loss:Q", format=".3f")]
    base = alt.Chart(rows).encode(steps, loss, colour, tooltip=tips)
    lines = base.encode(dash)  # two models of one mechanism have one colour
    dev = rows[rows.split == "dev"]
    kept_points = dev[dev.step == dev.model.map(dict(kept))]
    last = rows[rows.split == (rows.split.iloc[-1] if len(dev) == 0 else "dev")].groupby("model").tail(1)
    train = lines.transform_filter("datum.split == 'train'").mark_line(strokeWidth=1, opacity=0.55)
    layers = [
        train,
        lines.transform_filter("datum.split == 'dev'").mark_line(strokeWidth=2),
        base.transform_filter("datum.split == 'dev'").mark_point(size=14, filled=True),
        base.encode(size).properties(data=kept_points).mark_point(size=70, filled=True, opacity=1),
    ]
    if not is_crowded:
        placed = place_labels(last.assign(colour=last.model.map(dict(colours))), "step", "loss", domain, height - AXIS)
        layers += draw_labels(placed, "model", steps, loss, palette)
    chart = alt.layer(*layers).properties(height=height + 40 * is_crowded, padding=PADDING)
    return style_axes(chart, palette)
