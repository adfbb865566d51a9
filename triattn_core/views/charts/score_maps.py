"""Maps of several third-order scores on one row, beside each other on one scale, with their marginals.

Whatever cell the pointer is on is outlined in all of them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from triattn_core.views.charts.grids import with_style
from triattn_core.views.lib.palette import SEQUENTIAL, THEMES

BAR, GAP, LETTER, LABEL = (
    34,
    4,
    7,
    170,
)  # pixels: of a marginal's bars, beside a map; of a letter, and of labels at most
WIDEST, NARROWEST = 40, 22  # pixels of a cell across
PRINTED = 0.1  # weights from which on the number is printed in the cell


@dataclass(frozen=True)
class ScoreMap:
    """name: of the score.  weights: [I, J], which add up to one; each_row: each row of them does."""

    name: str
    weights: np.ndarray
    each_row: bool = False


def figure(
    maps: Sequence[ScoreMap],
    keys: Sequence[str],
    context: Sequence[str],
    truth: np.ndarray,
    chosen: tuple[int, int],
    width: int,
    theme: str = "light",
) -> alt.ConcatChart:
    """The maps in a row, or where that is too wide two in a row, or one.

    truth: [I, J] bool.  chosen: the cell that is marked.  width: pixels that all may take.
    """
    labels = min(LABEL, LETTER * max(map(len, keys)))
    for columns in (len(maps), 2, 1):
        room = (width - labels) / columns - BAR - 24
        if room >= NARROWEST * len(context):
            break
    across = int(min(WIDEST, max(NARROWEST, room / len(context))))
    under = alt.selection_point(name="under", on="pointerover", fields=["key", "context"], empty=False)
    panels = [
        _panel(i, map_, (keys, context), truth, chosen, across, under, i % columns == 0, labels, theme)
        for i, map_ in enumerate(maps)
    ]
    with warnings.catch_warnings():  # that the maps share one pointer, as they should
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        return with_style(alt.concat(*panels, columns=columns, spacing=20), theme)


def _panel(number, map_, names, truth, chosen, across, under, first, labels, theme) -> alt.VConcatChart:
    """One map with its title, the sums of its rows beside it and those of its columns below.  What adds up to one is
    framed, and says so."""
    keys, context = names
    # Altair names a view by its content: the number tells maps of equal weights apart.
    rows, down = cells(map_.weights, keys, context, truth).assign(map=number), max(24, min(30, across))
    size = {"width": across * len(context), "height": down * len(keys)}
    x = _axis(alt.X, "context", context, True, orient="top", labelAngle=-40)
    y = _axis(alt.Y, "key", keys, first, minExtent=labels if first else 0)
    layers = _layers(alt.Chart(rows).encode(x, y), chosen, under, across >= 30, theme)
    grid = alt.layer(*layers, _frame(rows, y, map_.each_row, theme)).properties(**size)
    title = alt.TitleParams(map_.name, anchor="start", fontSize=14, fontWeight=600, frame="group", offset=8)
    muted, share = THEMES[theme]["muted"], alt.Scale(domain=[0, 1])
    if map_.each_row:
        sums = alt.Chart(rows).mark_text(text="Σ 1", align="left", x=4, color=muted)
        sums = sums.encode(alt.Y("key:O", axis=None, scale=_places(keys))).properties(width=BAR, height=size["height"])
        return alt.vconcat(alt.hconcat(grid, sums, spacing=GAP, bounds="flush"), title=title)
    bars = alt.Chart(rows).mark_bar(color=muted, size=down - 10)
    of_keys = bars.encode(
        alt.Y("key:O", axis=None, scale=_places(keys)),
        alt.X("sum(weight):Q", axis=None, scale=share),
        tooltip=[alt.Tooltip("key_token:N", title="key"), _sum()],
    ).properties(width=BAR, height=size["height"])
    bars = alt.Chart(rows).mark_bar(color=muted, size=max(8, across - 12))
    of_context = bars.encode(
        alt.X("context:O", axis=None, scale=_places(context)),
        alt.Y("sum(weight):Q", axis=None, scale=alt.Scale(domain=[0, 1], reverse=True)),
        tooltip=[alt.Tooltip("context_token:N", title="context"), _sum()],
    ).properties(width=size["width"], height=BAR)
    beside = alt.hconcat(grid, of_keys, spacing=GAP, bounds="flush")
    total = alt.Chart(rows.head(1)).mark_text(text="Σ 1", color=muted).properties(width=BAR, height=BAR)
    below = alt.hconcat(of_context, total, spacing=GAP, bounds="flush")
    return alt.vconcat(beside, below, spacing=GAP, title=title)


def _frame(rows: pd.DataFrame, y: alt.X | alt.Y, each_row: bool, theme: str) -> alt.Chart:
    """An outline of the cells whose weights add up to one: the whole map, or each of its rows, at whatever size."""
    mark = alt.Chart(rows.drop_duplicates("key") if each_row else rows.head(1))
    mark = mark.mark_rect(fillOpacity=0, stroke=THEMES[theme]["text"], strokeWidth=1.2, aria=False)
    across = {"x": alt.value(0), "x2": alt.value("width")}
    if each_row:
        return mark.encode(y, **across)
    return mark.encode(y=alt.value(0), y2=alt.value("height"), **across)


def _sum() -> alt.Tooltip:
    return alt.Tooltip("sum(weight):Q", title="sum", format=".3f")


def _layers(base: alt.Chart, chosen: tuple[int, int], under: alt.Parameter, printed: bool, theme: str) -> list:
    """Cells, the true ones outlined, the chosen one dashed, the one under the pointer framed, numbers if `printed`."""
    palette, hollow = THEMES[theme], dict[str, Any](fillOpacity=0, cornerRadius=3, aria=False)
    scale = alt.Scale(type="sqrt", domain=[0, 1], range=SEQUENTIAL[theme], clamp=True, interpolate="lab")
    tips = [alt.Tooltip("key_token:N", title="key"), alt.Tooltip("context_token:N", title="context")]
    base = base.encode(tooltip=[*tips, alt.Tooltip("weight:Q", format=".3f")])
    marked = f"datum.key == {chosen[0]} && datum.context == {chosen[1]}"
    layers = [
        base.mark_rect(stroke=palette["page"], strokeWidth=1.5)
        .encode(alt.Color("weight:Q", scale=scale, legend=None))
        .add_params(under),
        base.transform_filter("datum.true").mark_rect(stroke=palette["key"], strokeWidth=3, **hollow),
        base.transform_filter(marked).mark_rect(stroke=palette["accent"], strokeWidth=2, strokeDash=[4, 2], **hollow),
        base.transform_filter(under).mark_rect(stroke=palette["text"], strokeWidth=1.5, **hollow),
    ]
    if printed:
        colour = alt.condition("datum.weight > 0.3", alt.value(palette["page"]), alt.value(palette["text"]))
        text = base.transform_filter(f"datum.weight >= {PRINTED}").mark_text(fontSize=11)
        layers.append(text.encode(text=alt.Text("weight:Q", format=".2f"), color=colour))
    return layers


def cells(weights: np.ndarray, keys: Sequence[str], context: Sequence[str], truth: np.ndarray) -> pd.DataFrame:
    """A row for each cell: place, tokens, weight and whether it is true."""
    key, other = (index.ravel() for index in np.indices(weights.shape))
    return pd.DataFrame(
        {
            "key": key,
            "context": other,
            "key_token": np.array(keys, object)[key],
            "context_token": np.array(context, object)[other],
            "weight": weights.ravel(),
            "true": truth.ravel(),
        }
    )


def _places(names: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(range(len(names))), paddingInner=0, paddingOuter=0)


def _axis(kind: type, name: str, tokens: Sequence[str], shown: bool, **axis_options) -> alt.X | alt.Y:
    labels = json.dumps([token[:28] for token in tokens] if shown else [""] * len(tokens))
    ticks = alt.Axis(
        labelExpr=f"({labels})[datum.value]", ticks=False, domain=False, labelOverlap=False, **axis_options
    )
    return kind(f"{name}:O", title=None, axis=ticks, scale=_places(tokens))


def describe(maps: Sequence[ScoreMap], truth: np.ndarray) -> str:
    """A sentence: the weight of each score on the truth."""
    if not truth.any():
        return "No cell is true: there is nothing to find."
    shares = ", ".join(f"{map_.name} {map_.weights[truth].sum():.0%}" for map_ in maps)
    return f"Weight on the true cells, of even weights {truth.mean():.1%}: {shares}."
