"""Does context matter: the parts of the relevance by layer and head, the three-way interaction, and bits per query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.views.charts.anova_text import layers_of
from triattn_core.views.charts.grids import cells_of, dashes, signed_colour, token_axis, with_style
from triattn_core.views.lib.palette import SEQUENTIAL, THEMES

AXES = ("query", "key", "context")
BITS = 120  # pixels of the bars beside the residual
LETTER, LEAN = 7.5, 5.5  # pixels that a letter of a label takes, and of one that leans beyond the last cell
PARTS = {  # drawn from below; the two that context redirects are the strong ones
    "key": "key",
    "query_key": "query × key",
    "key_context": "key × context",
    "three_way": "query × key × context",
    "query_context": "query × context",
    "context": "context",
}
MEASURES = {
    "redirected": "context redirects",
    "among_keys": "without context",
    "context_only": "which context is read",
}


def colours(theme: str) -> dict[str, str]:
    """Of each part: grey without context, cool where context redirects, pale where no key moves."""
    palette, cool = THEMES[theme], SEQUENTIAL[theme]
    grey = ("#c9d1d0", palette["bar"]) if theme == "light" else ("#46555a", "#7d8f95")
    shades = (cool[2], cool[4]) if theme == "light" else (cool[3], cool[5])
    warm = "#ddd6c4" if theme == "light" else "#453d2c"
    return dict(zip(PARTS, (*grey, *shades, warm, palette["faint"])))


def part_label(part: str, axes: Mapping[str, str]) -> str:
    """The name of a part of `PARTS`, with the axes by their labels."""
    return " × ".join(axes.get(axis, axis) for axis in PARTS[part].split(" × "))


def parts(
    table: pd.DataFrame,
    layer: int,
    head: int,
    theme: str = "light",
    by: str = "number",
    only: Sequence[str] = (),
    axes: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """Stacked shares of each head, layer after layer, the chosen one framed; a click sends `cell` with layer and head.

    table: of `anova.share_table`, one direction.  layer, head: from 0.  by: heads by `number`, or by what context
    redirects.
    only: parts that are drawn on a scale of their own; by default all, from 0 to 1.
    axes: labels of query, key and context, for a legend of the parts; None: no legend.
    """
    palette, fill = THEMES[theme], colours(theme)
    table = table.assign(layer=layers_of(table))
    order = table if by == "number" else table.sort_values(["layer", "redirected"], ascending=[True, False])
    labels = {part: part_label(part, axes or {}) for part in PARTS}
    rows = _part_rows(table, only or list(PARTS), labels)
    values = [labels[part] for part in only or PARTS]
    key = alt.Legend(title=None, orient="bottom", columns=3, labelLimit=220, values=values) if axes else None
    click = alt.selection_point(name="cell", fields=["at_layer", "at_head"], toggle=False)
    tips = [alt.Tooltip("at_layer:Q", title="layer"), alt.Tooltip("at_head:Q", title="head"), "part:N"]
    y = alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", values=[0, 0.5, 1]))
    if only:
        scale = alt.Undefined if rows["share"].any() else alt.Scale(domain=[0, 1])  # zeros alone have no scale
        y = alt.Y("share:Q", title=None, scale=scale, axis=alt.Axis(format=".2~%", tickCount=2))
    x = _head_axis(order, labelled=not only)
    bars = (
        alt.Chart(rows)
        .mark_bar(stroke=palette["hairline"], strokeWidth=0.6)
        .encode(
            x,
            y,
            alt.Color("part:N", scale=alt.Scale(domain=[*labels.values()], range=[*fill.values()]), legend=key),
            alt.Order("order:Q"),
            tooltip=[*tips, alt.Tooltip("share:Q", format=".1%")],
        )
    )
    row = rows[(rows["layer"] == layer) & (rows["head"] == head)]
    column = pd.DataFrame({"place": row["place"].head(1), "share": row["share"].sum()})
    # Round the whole column: a frame round each segment would paint over the small ones.
    frame = alt.Chart(column).mark_bar(filled=False, stroke=palette["query"], strokeWidth=2).encode(x, y)
    chart = alt.layer(bars.add_params(click), frame)
    return with_style(chart.properties(height=64 if only else 190), theme)


def _part_rows(table: pd.DataFrame, parts: Sequence[str], labels: Mapping[str, str]) -> pd.DataFrame:
    """A row for each head and part, with its place on the axis and its order in the stack."""
    rows = table.melt(["layer", "head"], list(parts), "part", "share")
    rows["place"] = rows["layer"].astype(str) + "." + rows["head"].astype(str)
    rows["order"] = rows["part"].map(list(PARTS).index)
    rows["part"] = rows["part"].map(labels)
    rows["at_layer"], rows["at_head"] = rows["layer"] + 1, rows["head"] + 1
    return rows


def _head_axis(order: pd.DataFrame, labelled: bool) -> alt.X:
    """Heads layer after layer, a gap between layers; the layer is named below its middle head."""
    domain: list[str] = []
    names: dict[str, list[str]] = {}
    for layer, heads in order.groupby("layer"):
        domain += [f"gap {layer}"] * bool(domain)
        for place, number in enumerate(heads["head"]):
            domain.append(name := f"{layer}.{number}")
            names[name] = [str(number + 1)] + [f"layer {layer + 1}"] * (place == len(heads) // 2)
    axis: alt.Axis | None = None
    if labelled:
        expression = f"({json.dumps(names)})[datum.value] || ''"
        axis = alt.Axis(labelExpr=expression, labelAngle=0, ticks=False, domain=False)
    return alt.X("place:N", scale=alt.Scale(domain=domain, paddingInner=0.12), title=None, axis=axis)


def residual(
    cells: xr.DataArray,
    bits: np.ndarray,
    labels: tuple[Sequence[str], Sequence[str]],
    theme: str = "light",
    width: int | None = None,
) -> alt.HConcatChart:
    """The three-way part at one context token, [query, key], and beside each query its bits.

    labels: of queries and keys.  Positions are drawn, since sentences repeat words.  width: pixels that the figure may
    have, None: as it needs.
    """
    palette, limit = THEMES[theme], float(np.abs(cells.values).max(initial=0.0)) or 1.0
    rows = cells_of(cells, labels)
    size = max(15, min(26, 420 // max(cells.shape)))
    x, y = token_axis("key", labels[1], orient="top", labelAngle=-45), token_axis("query", labels[0], orient="left")
    grid = (
        alt.Chart(rows)
        .mark_rect(stroke=palette["page"], strokeWidth=0.7)
        .encode(
            x,
            y,
            signed_colour(limit, theme),
            tooltip=["query_word:N", "key_word:N", alt.Tooltip("value:Q", format="+.3g", title="three-way part")],
        )
    )
    grid = alt.layer(grid, dashes(rows, x, y, limit, theme))
    height = size * cells.shape[0]
    grid_width = size * max(cells.shape[1], 4) * 1.25
    if width is not None:
        longest = min(max(map(len, labels[0]), default=0), 16)
        grid_width = min(grid_width, max(width - BITS - LETTER * longest - LEAN * min(len(labels[1][-1]), 16), 80))
    map_chart = grid.properties(width=grid_width, height=height)
    bit_bars = _bit_bars(bits, labels[0], palette).properties(width=BITS, height=height)
    return with_style(alt.hconcat(map_chart, bit_bars, spacing=16), theme)


def _bit_bars(bits: np.ndarray, queries: Sequence[str], palette: Mapping[str, str]) -> alt.LayerChart | alt.FacetChart:
    """A bar with its number for the bits of each query."""
    rows = pd.DataFrame({"query": range(len(bits)), "bits": bits, "query_word": queries})
    base = alt.Chart(rows).encode(token_axis("query", queries, labels=False), tooltip=["query_word:N", _bits("bits:Q")])
    # The numbers beside the bars need room, the title two lines.
    axis = alt.Axis(orient="top", tickCount=2, format=".3~g", grid=False)
    scale = alt.Scale(domain=[0, 1.5 * float(bits.max(initial=0.0))], nice=False)
    if not bits.any():
        axis, scale = alt.Axis(orient="top", values=[0], grid=False), alt.Scale(domain=[0, 1])
    x = alt.X("bits:Q", title=["I(key; context | query),", "bits"], axis=axis, scale=scale)
    bars = base.mark_bar(color=palette["bar"], height={"band": 0.5}).encode(x)
    text = base.mark_text(align="left", dx=4, fontSize=11, color=palette["muted"]).encode(x, text=_text("bits:Q"))
    return alt.layer(bars, text)


def _bits(field: str) -> alt.Tooltip:
    return alt.Tooltip(field, format=".3g", title="bits")


def _text(field: str) -> alt.Text:
    return alt.Text(field, format=".2~g")


def spread_chart(table: pd.DataFrame, here: pd.DataFrame, theme: str = "light") -> alt.FacetChart:
    """Shares over the rows of a file, by layer: quartiles as a bar, median as a line, 5 to 95 % as a thin line, and
    the example on the page as a diamond; `table`, `here`: of `context_shares.measure_rows` and `anova.share_table`."""
    palette, rows = THEMES[theme], quantiles(table)
    rows["here"] = quantiles(here)["median"]
    y = alt.Y("layer:N", title=None, axis=alt.Axis(ticks=False, domain=False))
    x = {name: alt.X(f"{name}:Q", title="share", axis=alt.Axis(format="%", tickCount=5)) for name in rows.columns[2:]}
    base = alt.Chart(rows).encode(y, tooltip=["layer:N", *(alt.Tooltip(f"{n}:Q", format=".1%") for n in x)])
    layers = [
        base.mark_rule(color=palette["muted"]).encode(x["low"], alt.X2("high:Q")),
        base.mark_bar(height=10, color=palette["bar"]).encode(x["q1"], alt.X2("q3:Q")),
        base.mark_tick(thickness=2, height=16, color=palette["text"]).encode(x["median"]),
        base.mark_point(shape="diamond", filled=True, size=75, opacity=1, color=palette["query"]).encode(x["here"]),
    ]
    chart = alt.layer(*layers).properties(width=200, height=alt.Step(24))
    chart = chart.facet(alt.Facet("measure:N", title=None, sort=[*MEASURES.values()]), columns=3, spacing=26)
    chart = chart.resolve_scale(x="independent")
    header = {"labelFontSize": 12.5, "labelFontWeight": 600, "labelColor": palette["text"], "labelAnchor": "start"}
    return with_style(chart, theme).configure_header(**header)


def quantiles(table: pd.DataFrame) -> pd.DataFrame:
    """Rows `measure, layer, low, q1, median, q3, high` of the three shares that add up to the whole."""
    measures = table.assign(context_only=1 - table["redirected"] - table["among_keys"])
    layer = "layer " + (layers_of(measures) + 1).astype(str)
    boxes = measures.groupby(layer)[list(MEASURES)].quantile([0.05, 0.25, 0.5, 0.75, 0.95]).stack().unstack(1)
    boxes.columns, boxes.index.names = ["low", "q1", "median", "q3", "high"], ["layer", "measure"]
    boxes = boxes.reset_index()
    return boxes.assign(measure=boxes["measure"].map(MEASURES))[["measure", "layer", *boxes.columns[2:]]]
