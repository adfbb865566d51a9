"""The loss while training: dev as a line with its kept point, train as a thin line behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.axis_style import style_axes
from triattn_core.views.lib.palette import THEMES

COLUMNS = ("train_loss", "dev_loss")
MOVE = 8  # pixels: half of what lies between two names
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


def _ends(last: pd.DataFrame, rows: pd.DataFrame) -> list[tuple[pd.DataFrame, int]]:
    """The last points with the pixels by which each name must move so that none covers another."""
    last = last.sort_values("loss", ascending=False)
    near = 0.1 * (rows.loss.max() - rows.loss.min())
    close = len(last) > 1 and float(last.loss.iloc[0] - last.loss.iloc[-1]) < near
    moves = [MOVE * (2 * i - len(last) + 1) if close else 0 for i in range(len(last))]
    return [(last.iloc[[i]], move) for i, move in enumerate(moves)]


def _name(base: alt.Chart, row: pd.DataFrame, offset: int) -> alt.Chart:
    mark = base.properties(data=row).mark_text(align="left", dx=8, dy=offset, fontWeight=600, fontSize=12)
    return mark.encode(text="model:N")


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
    room = 0 if is_crowded else MOVE * len(names)  # below the lowest line, so that the axis crosses no name
    loss = alt.Y("loss:Q", title=None, scale=alt.Scale(zero=False, padding=room), axis=alt.Axis(tickCount=5))
    legend_options: dict[str, Any] = {
        "symbolType": "stroke",
        "symbolSize": 500,
        "symbolStrokeWidth": 2,
        "labelColor": palette["text"],
    }
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
        *(_name(base, row, offset) for row, offset in _ends(last, rows) if not is_crowded),
    ]
    around = {"right": 8, "left": 0, "top": 4, "bottom": 6}
    chart = alt.layer(*layers).properties(height=height + 40 * is_crowded, padding=around)
    return style_axes(chart, palette)
