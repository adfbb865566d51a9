"""What the Altair maps of query × key share: their rows, their axes of tokens, their scales and their look."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.views.lib.palette import DIVERGING, FONTS, SEQUENTIAL, THEMES, LogScale, SignedScale, ramp

MARK = "\u241e"  # between texts that stand in one
LONGEST = 16  # letters of a token along an axis
STOPS = 33  # of a diverging map, an odd number: zero is one of them

alt.data_transformers.disable_max_rows()  # a file of 5,000 cells and more is what a case card is for


def cells_of(cells: xr.DataArray, labels: tuple[Sequence[str], Sequence[str]]) -> pd.DataFrame:
    """A row for each cell [query, key]."""
    query, key = (index.ravel() for index in np.indices(cells.shape))
    words = {"query_word": np.array(labels[0], object)[query], "key_word": np.array(labels[1], object)[key]}
    return pd.DataFrame({"query": query, "key": key, "value": cells.values.ravel(), **words})


def token_axis(axis: str, names: Sequence[str], **axis_options) -> Any:
    """An axis of positions that shows tokens in the text colour of the page: `alt.Y` of queries, else `alt.X`."""
    token_labels = label_expression([shorten(str(name)) for name in names])
    ticks: dict[str, Any] = {
        "labelExpr": token_labels,
        "ticks": False,
        "domain": False,
        "labelOverlap": len(names) > 24,
    }
    ticks |= axis_options
    kind = alt.Y if axis == "query" else alt.X
    return kind(f"{axis}:O", title=None, axis=alt.Axis(**ticks))


def shorten(label: str) -> str:
    """A label of at most LONGEST letters."""
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def label_expression(texts: Sequence[str]) -> str:
    """The labels of positions as a Vega expression; not an array of texts, in which Vega takes “if” for a signal."""
    return f"split({json.dumps(MARK.join(texts))}, {json.dumps(MARK)})[datum.value]"


def signed_colour(limit: float, theme: str, power: float = 1.0) -> alt.Color:
    """The diverging map from -limit to limit; power: as `SignedScale`."""
    # Stops of the OKLab ramp that canvas figures have: Vega's own way between two hues leads through a third.
    stops = ["#" + bytes(colour).hex() for colour in ramp(DIVERGING[theme], STOPS)]
    fit = SignedScale(limit, power)
    domain = fit.values(np.linspace(0, fit.steps - 1, STOPS)).tolist()
    scale = alt.Scale(domain=domain, range=stops, clamp=True, interpolate="rgb")
    return alt.Color("value:Q", scale=scale, legend=_legend("+.2g", fit.how or "linear scale", [-limit, 0.0, limit]))


def dashes(rows: pd.DataFrame, x: alt.X, y: alt.Y, limit: float, theme: str, power: float = 1.0) -> alt.Chart:
    """A dash on each cell of `cells_of` below zero: a sign is never told by hue alone.  limit, power: see `signed`."""
    palette = THEMES[theme]
    half = -limit * 0.5 ** (1 / power)
    ink = alt.condition(f"datum.value < {half}", alt.value(palette["page"]), alt.value(palette["text"]))
    return alt.Chart(rows[rows["value"] < 0]).mark_text(text="\u2212", fontSize=11).encode(x, y, color=ink)


def weights(values: np.ndarray, keys: int, theme: str) -> alt.Color:
    """The sequential map on the log scale that other maps of weights have (`LogScale.fit`)."""
    fit, stops = LogScale.fit(values, keys), SEQUENTIAL[theme]
    stop_values = np.geomspace(fit.low, fit.high, len(stops)).tolist()
    scale = alt.Scale(type="log", domain=stop_values, range=stops, clamp=True)
    return alt.Color("value:Q", scale=scale, legend=_legend(".2g", [fit.title, fit.ends], _ticks(fit)))


def _ticks(scale: LogScale) -> list[float]:
    """Three or four: of a narrow scale, where round numbers are fewer, both ends and their middle."""
    ticks = scale.ticks()
    return ticks[:: 1 + (len(ticks) > 4)] if len(ticks) > 2 else np.geomspace(scale.low, scale.high, 3).tolist()


def _legend(format: str, title: str | list[str], ticks: Sequence[float]) -> alt.Legend:
    legend: dict[str, Any] = {
        "orient": "bottom",
        "direction": "horizontal",
        "gradientLength": 170,
        "values": list(ticks),
    }
    return alt.Legend(title=title, format=format, **legend)


def with_style(chart, theme: str):
    """The quiet look that the figures of these pages share."""
    palette = THEMES[theme]
    axis = {"labelColor": palette["text"], "titleColor": palette["muted"], "titleFontWeight": "normal"}
    lines = {"gridColor": palette["hairline"], "domainColor": palette["muted"], "tickColor": palette["muted"]}
    chart = chart.configure(font=FONTS, background="transparent")
    chart = chart.configure_axis(**axis, **lines, labelFontSize=12, titleFontSize=12, labelLimit=150)
    title = {"titleColor": palette["muted"], "titleFontSize": 11.5, "titleFontWeight": "normal"}
    return chart.configure_legend(labelColor=palette["muted"], labelFontSize=11.5, **title).configure_view(stroke=None)


def with_titles(chart, theme: str):
    """The same of figures with a title each."""
    return with_style(chart, theme).configure_title(color=THEMES[theme]["text"], fontSize=12.5, anchor="start")
