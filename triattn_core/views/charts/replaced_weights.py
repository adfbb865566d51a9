"""Replaced attention: the log-odds of the answer against chance, and how far the attention of each head moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.trace.site import Site
from triattn_core.views.charts.grids import with_style
from triattn_core.views.lib.palette import SEQUENTIAL, THEMES

RUNS = ("as it is", "changed", "at random")
FLOOR = 1e-4  # bits below which a head has hardly moved


def draws(log_odds: Sequence[float], theme: str = "light", width: int | None = None) -> alt.LayerChart:
    """The log-odds of the answer: as it is, changed, then under each draw at random, as ticks.  width: pixels, None:
    the page's."""
    palette = THEMES[theme]
    runs = [RUNS[0], RUNS[1], *[RUNS[2]] * (len(log_odds) - 2)]
    rows = pd.DataFrame({"odds": log_odds, "run": runs})
    span = max(log_odds) - min(log_odds) or 1.0
    near = min(log_odds) - span <= 0 <= max(log_odds) + span  # else the numbers would crowd at one end
    shown = [*log_odds, *[0.0] * near]
    scale = alt.Scale(domain=[min(shown) - 0.06 * span, max(shown) + 0.06 * span], nice=False, zero=False)
    x = alt.X("odds:Q", title="log-odds of the answer", axis=alt.Axis(grid=False, tickCount=7), scale=scale)
    y = alt.Y("run:N", title=None, sort=list(RUNS), axis=alt.Axis(ticks=False, domain=False))
    tips: list[Any] = ["run:N", alt.Tooltip("odds:Q", format="+.3f", title="log-odds")]
    zero = alt.Chart(pd.DataFrame({"odds": [0]})).mark_rule(strokeDash=[4, 3], color=palette["muted"]).encode(x)
    drawn = alt.Chart(rows[2:]).mark_tick(thickness=1.5, height=16, opacity=0.7, color=palette["bar"])
    colour = alt.Color(
        "run:N", legend=None, scale=alt.Scale(domain=RUNS[:2], range=[palette["text"], palette["query"]])
    )
    points = alt.Chart(rows[:2]).mark_point(shape="diamond", filled=True, size=90, opacity=1)
    size = {"height": 112} | ({"width": width} if width else {})
    layers = [*[zero] * near, drawn.encode(x, y, tooltip=tips), points.encode(x, y, colour, tooltip=tips)]
    return with_style(alt.layer(*layers).properties(**size), theme)


def _place(layer: str, attention: Site) -> str:
    """`layer 3, encoder/self`: the number that its model gives a layer, and which of its attentions."""
    which = " ".join(filter(None, (attention.module, attention.role))).replace("_", " ")
    return which if attention.layer is None else f"{layer}, {which}"


def moved(heads: pd.DataFrame, theme: str = "light") -> alt.LayerChart:
    """Bits that the attention of each head moves, layer down, head across; changed heads are framed.

    heads: of `scenes.weights.moved_heads`; layers with several attentions have a row each.
    """
    palette, stops = THEMES[theme], SEQUENTIAL[theme]
    several = heads.groupby("layer")["site"].nunique().max() > 1
    layer = "layer " + heads["layer"].astype(str)
    place = [_place(name, Site.parse(site).attention) for name, site in zip(layer, heads["site"])]
    rows = heads.assign(row=place if several else layer)
    order = list(dict.fromkeys(rows["row"]))
    y = alt.Y("row:N", title=None, sort=order, axis=alt.Axis(ticks=False, domain=False))
    x = alt.X("head:O", title="head", axis=alt.Axis(ticks=False, domain=False, orient="top", labelAngle=0))
    most = max(float(rows["bits"].max()) if rows["bits"].notna().any() else 0.0, FLOOR)
    scale = alt.Scale(domain=[0, most], range=stops, clamp=True)
    colour = alt.Color("bits:Q", scale=scale, legend=alt.Legend(title="bits moved", format=".2~g", tickCount=4))
    tips: list[Any] = ["row:N", "head:O", alt.Tooltip("bits:Q", format=".3g"), "changed:N"]
    base = alt.Chart(rows).encode(x, y, tooltip=tips)
    cells = base.mark_rect(stroke=palette["page"], strokeWidth=1).encode(color=colour)
    frames = base.transform_filter("datum.changed").mark_rect(
        fillOpacity=0, stroke=palette["query"], strokeWidth=1.5, strokeDash=[3, 2]
    )
    beside = 6 * max(map(len, order)) + 110  # labels and legend, which the stated size includes
    size = {"width": 30 * int(rows["head"].nunique()) + beside, "height": max(150, 24 * len(order) + 40)}
    return with_style(alt.layer(cells, frames).properties(**size), theme)
