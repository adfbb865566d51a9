"""Is an attribution faithful: curves of one example against its random control, and areas over a file of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.trace.axes import RANDOM
from triattn_core.views.charts.line_labels import draw_labels, place_labels
from triattn_core.views.lib.number_format import minus
from triattn_core.views.lib.palette import FONTS, THEMES

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 4], [10, 2, 1, 2, 1, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond")
TITLES = {
    "comprehensiveness": "Comprehensiveness: lost without the top tokens; higher is better",
    "sufficiency": "Sufficiency: lost with them alone; lower is better",
}
SHARES = {"comprehensiveness": "share of tokens taken out, %", "sufficiency": "share of tokens kept, %"}
PLOT = 160  # pixels of the curves alone: on a page title and axis are part of the height


def figure(curves: pd.DataFrame, measure: str, method: str, theme: str = "light") -> alt.LayerChart:
    """From `faithfulness.perturbation_curves`: a line a method, the chosen one in the accent; of the random control the
    mean as a broken line and the middle 95 % of its draws as a band.  Shares that name the same tokens are one
    point."""
    palette, height = THEMES[theme], PLOT + 70
    endpoints = curves.drop_duplicates(["method", "draw", "tokens"], keep="last")
    endpoints = endpoints.assign(x=100 * curves["share"], line=curves["method"])
    lines = endpoints[endpoints["method"] != RANDOM].assign(mean=endpoints[measure])
    random_draws = endpoints[endpoints["method"] == RANDOM].groupby("x")[measure]
    edges = {"low": random_draws.quantile(0.025), "high": random_draws.quantile(0.975)}
    band = pd.DataFrame({"mean": random_draws.mean(), **edges}).reset_index().assign(line=RANDOM)
    means = pd.concat([lines[["line", "x", "mean"]].assign(low=lines["mean"], high=lines["mean"]), band])
    x = alt.X(
        "x:Q",
        title=f"{SHARES[measure]}{same_tokens_note(curves)}",
        axis=alt.Axis(values=[0, 5, 10, 20, 50], grid=False),
    )
    low, high = float(means["low"].min()), float(means["high"].max())
    room = max(high - low, 1e-6) / 20
    domain = [low - room, high + room]
    scale = alt.Scale(domain=domain, zero=False)  # of the band too, or its area would reach down to zero
    y = alt.Y("mean:Q", title=None, axis=alt.Axis(tickCount=5, format=".3~g"), scale=scale)
    names = list(lines["line"].unique())
    dash = alt.StrokeDash("line:N", scale=alt.Scale(domain=names, range=[*DASHES[: len(names)]]), legend=None)
    tips: list[Any] = [
        "line:N",
        alt.Tooltip("x:Q", title="share, %"),
        alt.Tooltip("mean:Q", format=".3f", title=measure),
    ]
    base, control = alt.Chart(lines).encode(x, y, tooltip=tips), alt.Chart(band).encode(x, y, tooltip=tips)
    isolated = base.transform_filter(alt.datum.line == method)
    layers = [
        control.mark_area(opacity=0.28, color=palette["bar"]).encode(alt.Y("low:Q"), alt.Y2("high:Q")),
        control.mark_line(strokeDash=[3, 3], strokeWidth=1.5, color=palette["muted"]),
        base.mark_line(strokeWidth=1.2, color=palette["muted"]).encode(dash),
        isolated.mark_line(strokeWidth=2.4, color=palette["accent"]),
        isolated.mark_point(size=34, filled=True, opacity=1, color=palette["accent"]),
    ]
    last = means.groupby("line", sort=False).tail(1)
    last = last.assign(bold=last["line"] == method)
    last = last.assign(colour=[palette["accent" if is_chosen else "muted"] for is_chosen in last["bold"]])
    layers += draw_labels(place_labels(last, "x", "mean", domain, PLOT), "line", x, y, palette, halo=False)
    return _with_style(alt.layer(*layers).properties(height=height, title=TITLES[measure]), theme)


def same_tokens_note(curves: pd.DataFrame) -> str:
    """Which shares name the same tokens, in words; empty where none do: "; 1 and 5 % are the same token"."""
    per_example = curves[curves["share"] > 0].drop_duplicates("share").groupby("tokens")["share"]
    some = {count: [f"{100 * share:.3g}" for share in shares] for count, shares in per_example if len(shares) > 1}
    sentence = (
        f"; {', '.join(shares[:-1])} and {shares[-1]} % are the same {'token' if count == 1 else f'{count} tokens'}"
        for count, shares in some.items()
    )
    return "".join(sentence)


def describe(method: str, areas: pd.DataFrame, band: pd.DataFrame, draws: int) -> str:
    """A sentence: where the area of a method lies against the control's band, and which methods leave it.

    areas, band: of `faithfulness.aopc` and `control`, of so many draws.
    """
    parts = []
    for measure, sign in (("comprehensiveness", 1), ("sufficiency", -1)):
        value, low, high = areas.loc[(method, 0), measure], band.loc[measure, "low"], band.loc[measure, "high"]
        where = "inside" if low <= value <= high else "better than" if (value > high) == (sign > 0) else "worse than"
        parts.append(f"{measure} {value:+.3f}, {where} the random band {low:+.3f} to {high:+.3f}")
    outside = [
        name
        for name in areas.index.get_level_values(0).unique()
        if name != RANDOM
        and (
            areas.loc[(name, 0), "comprehensiveness"] > band.loc["comprehensiveness", "high"]
            or areas.loc[(name, 0), "sufficiency"] < band.loc["sufficiency", "low"]
        )
    ]
    asked = 2 * (areas.index.get_level_values(0).nunique() - 1)
    share = 100 * (1 - (1 - exceedance(draws)) ** asked)
    better = f"Better than the band here: {', '.join(outside) or 'none'}."
    better += (
        f" By chance, one of {asked} comparisons would be in {share:.0f} % of examples, if they were independent: "
    )
    better += "test over many rows."
    return minus(f"Area over the perturbation curve of {method}: {'; '.join(parts)}. {better}")


def exceedance(draws: int, edge: float = 0.975) -> float:
    """How often one more ranking like the random ones lies beyond their `edge` quantile, which is taken between two of
    them: exact for evenly spread areas, whose k-th of n is k / (n + 1) in the mean."""
    return 1 - (edge * (draws - 1) + 1) / (draws + 1)


def mean_gains(
    summary: pd.DataFrame, measure: str, mechanisms: Mapping[str, str], theme: str = "light"
) -> alt.LayerChart:
    """From `faithfulness.summarize`: the mean area of each method and checkpoint as a point with its 95 % band.

    mechanisms: of the checkpoints by name.  Colour and shape both tell them apart.
    """
    palette = THEMES[theme]
    names = list(mechanisms)
    scale = alt.Scale(domain=names, range=[palette.get(mechanisms[name], palette["bar"]) for name in names])
    key = alt.Legend(title=None, orient="top", symbolSize=80, symbolOpacity=1)
    colour = alt.Color("checkpoint:N", scale=scale, legend=key)
    shape = alt.Shape("checkpoint:N", scale=alt.Scale(domain=names, range=[*SHAPES[: len(names)]]), legend=key)
    methods = list(dict.fromkeys(summary["method"]))
    offset = alt.YOffset("checkpoint:N", scale=alt.Scale(domain=names))
    y = alt.Y("method:N", sort=methods, title=None, axis=alt.Axis(ticks=False, domain=False, grid=True))
    tips: list[Any] = ["checkpoint:N", "method:N", "rows:Q", *(alt.Tooltip(f"{n}:Q", format=".3f") for n in _NUMBERS)]
    base = alt.Chart(summary[summary["measure"] == measure]).encode(y, offset, tooltip=tips)
    axis: dict[str, Any] = {"title": "area over the perturbation curve", "axis": alt.Axis(tickCount=5, grid=False)}
    band = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", **axis), alt.X2("high:Q"), colour)
    points = base.mark_point(size=70, filled=True, opacity=1).encode(alt.X("mean:Q", **axis), colour, shape)
    chart = alt.layer(band, points).properties(height=ROUND + 38 * len(methods), title=TITLES[measure])
    return _with_style(chart, theme, right=8)


ROUND = 106  # pixels of title, legend and axis: on a page they are part of the height
_NUMBERS = ("mean", "low", "high", "gain", "gain_low", "gain_high")


def _with_style(chart: Any, theme: str, right: int = 122) -> Any:
    palette = THEMES[theme]
    axis: dict[str, Any] = {"labelColor": palette["muted"], "titleColor": palette["muted"], "titleFontWeight": "normal"}
    lines: dict[str, Any] = {
        "gridColor": palette["hairline"],
        "domainColor": palette["muted"],
        "tickColor": palette["muted"],
    }
    chart = chart.configure(font=FONTS, background="transparent", padding={"right": right, "left": 0, "top": 4})
    chart = chart.configure_axis(**axis, **lines, labelFontSize=12, titleFontSize=12, labelLimit=200)
    chart = chart.configure_title(color=palette["text"], fontSize=12.5, fontWeight=600, anchor="start", offset=8)
    return chart.configure_legend(labelColor=palette["text"], labelFontSize=12).configure_view(stroke=None)
