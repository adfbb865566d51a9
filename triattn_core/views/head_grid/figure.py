"""All heads of a trace at once: a thumbnail each, layers down and heads across, on one scale; a click chooses a head.

What is sent is levels alone: of a long text a thumbnail shows the largest weight of each block of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from triattn_core.trace import AttentionTrace
from triattn_core.views.head_grid.grid import MEASURE_NAMES, Grid
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import pack, scale_payload, theme_payload
from triattn_core.views.lib.tokens import cell_axes, text_names

SCRIPT = "head_grid/head_grid.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css")
OPENS = "query_information"  # the measure below each thumbnail, where nothing else is chosen
SHORT = {"query_information": "query (bits)", "context_information": "context (bits)"}  # in a strip


def strip(trace: AttentionTrace, measures: pd.DataFrame, rows: Sequence[str] = ()) -> Canvas:
    """The same small, to stand above another figure: query and context information below each thumbnail.

    rows: what the rows are called, where they are no layers.  See `figure`.
    """
    grid = Grid.of(trace, measures)
    names = list(rows) or [f"layer {title}" if title else "heads" for title in grid.titles]
    sizes = {
        "strip": True,
        "below": [name for name in SHORT if name in grid.values],
        "layers": _layers(grid, names),
        "measures": {name: about | {"short": SHORT.get(name, "")} for name, about in _measures(grid).items()},
    }
    return _canvas(trace, _payload(trace, measures, grid, grid.measure(OPENS), (0, 0)) | sizes, height=100)


def figure(trace: AttentionTrace, measures: pd.DataFrame, measure: str = OPENS, cell: Sequence[int] = (0, 0)) -> Canvas:
    """The canvas of all heads.

    measures: a row a head, as `head_measures.head_table` has it; measure: of MEASURE_NAMES, which stands below each
    thumbnail.  cell: place of the layer among the layers of the trace, and head, from 0.  Raises TraceError where there
    are no weights over query and key.
    """
    grid = Grid.of(trace, measures)
    measure = grid.measure(measure)
    return replace(
        _canvas(trace, _payload(trace, measures, grid, measure, cell), height=620),
        cell=tuple(cell),
        axes=cell_axes({}, {"layer": len(grid.sites), "head": grid.heads}),
        maps=grid.marks(measure),
    )


def _canvas(trace: AttentionTrace, payload: dict[str, Any], height: int) -> Canvas:
    title = f"All heads: {trace.meta.get('checkpoint', '')}"
    about = {"caption": payload["caption"], "texts": payload["texts"]}
    return Canvas(payload, script(SCRIPT), style(*STYLE), title, payload["alt"], height, **about)


def _payload(
    trace: AttentionTrace, measures: pd.DataFrame, grid: Grid, measure: str, cell: Sequence[int]
) -> dict[str, Any]:
    return {
        "texts": dict(trace.texts),
        "names": text_names(trace.texts),
        "themes": theme_payload("log"),
        "scale": scale_payload(grid.scale),
        "pooled": grid.pooled,
        "keys": grid.keys if grid.keys_agree else 0,
        "heads": grid.heads,
        "layers": _layers(grid, grid.titles),
        "measures": _measures(grid),
        "says": {name: MEASURE_NAMES[name][1] for name in grid.values},
        "measure": measure,
        "below": [measure],
        "strip": False,
        "cell": list(cell),
        "notes": "",
        "caption": str(trace.meta.get("checkpoint", "")),
        "alt": _alt(measures, measure, len(grid.sites), grid.heads),
    }


def _layers(grid: Grid, titles: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"title": title, "levels": pack(levels), "shape": list(levels.shape[1:])}
        for title, levels in zip(titles, grid.levels)
    ]


def _measures(grid: Grid) -> dict[str, dict[str, Any]]:
    return {name: {"title": MEASURE_NAMES[name][0], "values": values} for name, values in grid.values.items()}


def _alt(measures: pd.DataFrame, measure: str, layers: int, heads: int) -> str:
    """What the figure shows in words: how many heads, and those with the most and the least of the measure."""
    name = MEASURE_NAMES[measure][0]
    order = measures.dropna(subset=[measure]).sort_values(measure)
    size = f"{layers} layer{'s' * (layers > 1)} of {heads} head{'s' * (heads > 1)}"
    if order.empty:
        return f"Maps of query × key of {size}, without any weight."
    ends = [f"{_head(row, layers)}, {row[measure]:.3g}" for row in (order.iloc[-1], order.iloc[0])]
    return f"Maps of query × key of {size}. {name.capitalize()}: most in {ends[0]}; least in {ends[1]}."


def _head(row: pd.Series, layers: int) -> str:
    layer = f"layer {int(row['layer']) + 1}, " if layers > 1 else ""
    return f"{layer}head {int(row['head']) + 1}"
