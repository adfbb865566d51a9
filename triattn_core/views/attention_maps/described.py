"""The panels of attention maps: a map a head, and source2token of the head that is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import cell_counts
from triattn_core.views.attention_maps.maps import Map
from triattn_core.views.lib.marks import Bars, Cells, Strip
from triattn_core.views.lib.palette import Scale
from triattn_core.views.lib.panel import Panel, Values

PAIR, TOKEN, FEATURES = ("query", "key"), ("key",), ("key", "feature")


def panel(map_: Map, index: int, scale: Scale, order: Sequence[int] | None) -> Panel:
    """One map.  order: the positions of its features, None where they are not drawn one by one."""
    arrays = {"levels": Values(PAIR, scale.levels(map_.map_values.values)), **_pair_arrays(map_)}
    strip = map_.source is not None and order is None
    if map_.source is not None:
        arrays |= _source_arrays(map_, scale, order)
    return Panel(
        map_.title,
        *PAIR,
        Cells("levels", "main", masked="masked" if "masked" in arrays else ""),
        arrays,
        marks=(Strip("mean_levels", "source"),) if strip else (),
        place=(0, index),
        note=map_.note,
        chooses=("map", index),
        printed=map_.note,
    )


def _pair_arrays(map_: Map) -> dict[str, Values]:
    """weights, values where they are no weights, ranks, how many keys the mask leaves, an even share, scores."""
    weights = map_.weights.values.astype(np.float32)
    arrays = {
        "weights": Values(PAIR, weights),
        "ranks": Values(PAIR, ranks(map_.sizes)),
        "open": Values(("query",), (~map_.masked).sum(1).astype(np.uint16)),
    }
    if map_.map_values.attrs["quantity"] == "relevance":
        arrays["values"] = Values(PAIR, map_.map_values.values)
    if map_.masked.any():
        arrays["masked"] = Values(PAIR, map_.masked)
    if "folded" in map_.weights.attrs:
        arrays["even"] = Values(PAIR, map_.even.values)
    else:
        arrays["even"] = Values(("query",), 1 / np.maximum((~map_.masked).sum(1), 1))
    return arrays | ({"scores": Values(PAIR, map_.scores.values)} if map_.scores is not None else {})


def _source_arrays(map_: Map, scale: Scale, order: Sequence[int] | None) -> dict[str, Values]:
    """What a dependent has by itself: on average, and in each feature, as drawn, as weights and as scores."""
    assert map_.source is not None
    arrays = {"mean_levels": Values(TOKEN, scale.levels(map_.source.mean("feature").values))}
    cells = cell_counts(map_.weights, "key")
    arrays |= {"source_even": Values(TOKEN, cells / cells.sum()), "keys": Values((), np.array([len(cells)], np.uint16))}
    for name, array in (("", map_.source), ("_weights", map_.source_weights), ("_scores", map_.source_scores)):
        if array is None or name and array is map_.source:
            continue
        arrays[f"mean{name}"] = Values(TOKEN, array.mean("feature").values)
        if order is not None:
            arrays[f"source{name}"] = Values(FEATURES, ordered(array, order).values)
    weights = map_.source if map_.source_weights is None else map_.source_weights
    arrays["mean_ranks"] = Values(TOKEN, ranks(weights.mean("feature").values))
    if order is None:
        return arrays
    own = ordered(weights, order).values
    return arrays | {
        "source_levels": Values(FEATURES, scale.levels(ordered(map_.source, order).values)),
        "source_ranks": Values(FEATURES, ranks(own.T).T),
        "order": Values(("feature",), np.array(order, np.uint16) + np.uint16(1)),
    }


def ordered(source: xr.DataArray, order: Sequence[int]) -> xr.DataArray:
    """[key, feature], features in this order."""
    return source.transpose("key", "feature").isel(feature=list(order))


def ranks(weights: np.ndarray) -> np.ndarray:
    """Of each weight its rank along the last axis, 1 the largest, equal ones alike; in the bytes that they need."""
    found = 1 + (weights[..., None, :] > weights[..., None]).sum(-1)
    return found.astype(np.uint8 if found.max(initial=0) < 256 else np.uint16)


def source_panel(features: int) -> Panel:
    """Source2token of the head that is chosen: a bar for each token, its mean over features; and token × feature."""
    return Panel(
        "Source2token",
        *FEATURES,
        Cells("source_levels", "main"),
        {},
        marks=(Bars("mean", "left", "mean", size=96),),
        place=(1, 0),
        note="{title}: what a token has by itself, read down a column",
        lines=(f"token × feature, {features} features ordered by likeness",),
        follows="map",
        numbers="order",
        paper_title="source2token, features in order of likeness",
    )
