"""All heads of a trace at once: a thumbnail each, layers down and heads across, on one scale; a click chooses a head.

What is sent is levels alone: of a long text a thumbnail shows the largest weight of each block of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from triattn_core.trace import AttentionTrace
from triattn_core.trace.sites import layer_of, two_way_sites, two_way_weights
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import LogScale, pack, scale_payload, theme_payload
from triattn_core.views.lib.tokens import named

SCRIPT = "head_grid/head_grid.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css")
SHORT = {"query_information": "query, bits", "context_information": "context, bits"}  # in a strip
FINEST = 48  # cells of a thumbnail along an axis
MEASURE_NAMES = {  # of `analysis.maps.head_measures`, with what each says
    "entropy": ("entropy, bits", "How spread a query's weights are: 0 is one key, log2 of the keys is even."),
    "query_information": (
        "query information, bits",
        "How much the key depends on the query: 0 where all queries attend alike.",
    ),
    "context_information": (
        "context information, bits",
        "How much the key depends on the context, for a query: 0 where the cube is the product of its margins.",
    ),
    "distance": ("distance, tokens", "How far away the keys of a query are, on average."),
    "sink": ("sink mass", "The mean weight of the key that gets most: near 1, all queries attend to one key."),
    "special": ("on special tokens", "The share of the weight that special tokens such as [SEP] hold."),
}


def strip(trace: AttentionTrace, measures: pd.DataFrame, rows: Sequence[str] = ()) -> Canvas:
    """The same small, to stand above another figure: query and context information below each thumbnail.

    rows: what the rows are called, where they are no layers.  See `figure`.
    """
    canvas = figure(trace, measures)
    known, layers = canvas.payload["measures"], canvas.payload["layers"]
    names = list(rows) or [f"layer {layer['title']}" if layer["title"] else "heads" for layer in layers]
    more = {
        "strip": True,
        "below": [name for name in SHORT if name in known],
        "layers": [{**layer, "title": name} for layer, name in zip(layers, names)],
        "measures": {name: about | {"short": SHORT.get(name, "")} for name, about in known.items()},
    }
    return replace(canvas, payload={**canvas.payload, **more}, height=100)


def figure(
    trace: AttentionTrace, measures: pd.DataFrame, measure: str = "query_information", cell: Sequence[int] = (0, 0)
) -> Canvas:
    """The canvas of all heads.

    measures: a row a head, as `head_measures.head_table` has it; measure: of MEASURE_NAMES, which stands below each
    thumbnail.  cell: place of the layer among the layers of the trace, and head, from 0.  Raises TraceError where there
    are no weights over query and key.
    """
    sites = sorted(two_way_sites(trace), key=lambda site: (layer_of(site), site))
    maps = [two_way_weights(trace, site) for site in sites]
    scale = LogScale.fit(np.concatenate([array.values.ravel() for array in maps]), maps[0].sizes["key"])
    heads = max(array.sizes["head"] for array in maps)
    thumbs = [scale.levels(_pooled(array.values)) for array in maps]
    values = [measures.loc[measures["site"] == site].sort_values("head") for site in sites]
    known = {
        name: [_numbers(value[name]) for value in values] for name in MEASURE_NAMES if measures[name].notna().any()
    }
    payload: dict[str, Any] = {
        "texts": dict(trace.texts),
        "names": named(trace.texts),
        "themes": theme_payload("log"),
        "scale": {**scale_payload(scale), "title": "weight, log scale, one for all"},
        "shape": list(thumbs[0].shape[1:]),
        "pooled": thumbs[0].shape[1:] != maps[0].shape[1:],
        "keys": maps[0].sizes["key"],
        "heads": heads,
        "layers": [{"title": _title(site, len(sites)), "levels": pack(thumb)} for site, thumb in zip(sites, thumbs)],
        "measures": {name: {"title": MEASURE_NAMES[name][0], "values": known[name]} for name in known},
        "says": {name: MEASURE_NAMES[name][1] for name in known},
        "measure": measure if measure in known else next(iter(known)),
        "below": [measure if measure in known else next(iter(known))],
        "strip": False,
        "cell": list(cell),
        "notes": "",
        "caption": str(trace.meta.get("checkpoint", "")),
        "alt": _alt(trace, measures, measure if measure in known else next(iter(known)), len(sites), heads),
    }
    title = f"All heads: {trace.meta.get('checkpoint', '')}"
    return Canvas(payload, script(SCRIPT), style(*STYLE), title, payload["alt"], height=620, kind="head_grid")


def _title(site: str, count: int) -> str:
    return str(layer_of(site) + 1) if count > 1 else ""


def _numbers(values: pd.Series) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _pooled(weights: np.ndarray) -> np.ndarray:
    """[head, rows, columns], at most FINEST of either: the largest of each block."""
    for axis in (1, 2):
        size = weights.shape[axis]
        if size > FINEST:
            starts = np.linspace(0, size, FINEST, endpoint=False).astype(int)
            weights = np.maximum.reduceat(weights, starts, axis)
    return weights


def _alt(trace: AttentionTrace, measures: pd.DataFrame, measure: str, layers: int, heads: int) -> str:
    """What the figure shows in words: how many heads, and those with the most and the least of the measure."""
    name = MEASURE_NAMES[measure][0]
    order = measures.dropna(subset=[measure]).sort_values(measure)
    ends = [f"{_head(row, layers)}, {row[measure]:.3g}" for row in (order.iloc[-1], order.iloc[0])]
    size = f"{layers} layer{'s' * (layers > 1)} of {heads} head{'s' * (heads > 1)}"
    return f"Maps of query × key of {size}. {name.capitalize()}: most in {ends[0]}; least in {ends[1]}."


def _head(row: pd.Series, layers: int) -> str:
    layer = f"layer {int(row['layer']) + 1}, " if layers > 1 else ""
    return f"{layer}head {int(row['head']) + 1}"
