"""Attention maps as a figure: on one scale, side by side or as one grid, and what they show in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from textwrap import shorten
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.trace.listing import listing
from triattn_core.views.attention_maps.maps import Map
from triattn_core.views.attention_maps.marks import MapLevels, marks, ordered
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.palette import LogScale, Scale, SignedScale, pack, scale_payload
from triattn_core.views.lib.payload import map_payload
from triattn_core.views.lib.strongest import labels
from triattn_core.views.lib.tokens import cell_axes, tokens

NEEDS = ("head", "query", "key")
NAMED = 3  # queries that are left nothing to attend to; of more the count is said
SCRIPT = "attention_maps/attention_maps.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css")
SCALES = {
    "weight": "weight, log scale, one for all",
    "relevance": "relevance as its softmax takes it, centred over keys, one for all",
}


def scale_of(maps: Sequence[Map]) -> Scale:
    """One scale for all maps and for what stands beside them; masked cells have no part in it."""
    parts = [
        array.values[np.isfinite(array.values)] for m in maps for array in (m.map_values, m.source) if array is not None
    ]
    values = np.concatenate(parts)
    quantity = maps[0].map_values.attrs["quantity"]
    if quantity == "weight":
        values = values[values > 0] if (values > 0).any() else values
        return replace(LogScale.fit(values, maps[0].map_values.sizes["key"]), title=SCALES[quantity])
    return SignedScale.of(values, title=SCALES[quantity])


def figure(
    maps: Sequence[Map],
    texts: Mapping[str, str],
    orders: Sequence[Sequence[int]] | None = None,
    caption: str = "",
    cell: Sequence[int] | None = None,
    family: str = "MTSA",
    roles: tuple[str, str] = ("governor", "dependent"),
    large: bool = False,
) -> Canvas:
    """The canvas of one or more maps of the same tokens.

    orders: of each map the positions of its features as they stand, where source2token is drawn token × feature;
    without it each map has the means over features as a strip below.  cell: (query, key, map, place in its order) that
    is chosen at first.  family: the title's first word.  roles: what tokens down and across are called.
    large: maps without source2token take the room that there is.
    """
    first, scale = maps[0].map_values, scale_of(maps)
    levels = [MapLevels.of(map_, scale, order) for map_, order in zip(maps, orders or repeat(None))]
    quantity, start_cell = first.attrs["quantity"], tuple(cell or first_cell(maps, orders))
    axes = {axis: tokens(first, dict(texts), axis, np.arange(first.sizes[axis])) for axis in ("query", "key")}
    payload = map_payload(texts, axes, start_cell, caption) | {
        "quantity": quantity,
        "scale": scale_payload(scale),
        "panels": [
            _panel(map_, scale, map_levels, order)
            for map_, map_levels, order in zip(maps, levels, orders or repeat(None))
        ],
        "roles": list(roles),
        "large": large,
        "alt": alt(maps, texts),
        "notes": describe_aggregation(maps[0].weights),
    }
    return Canvas(
        payload,
        script(SCRIPT),
        style(*STYLE),
        f"{family}: " + shorten(" / ".join(texts.values()), 90, placeholder=" …"),
        payload["alt"],
        caption=caption,
        texts=payload["texts"],
        cell=start_cell,
        axes=cell_axes(axes, {"map": len(maps), "feature": len(orders[0]) if orders else 1}),
        maps=marks(maps, levels, scale, axes, orders, start_cell),
    )


def _panel(map_: Map, scale: Scale, levels: MapLevels, order: Sequence[int] | None) -> dict:
    payload: dict[str, Any] = {"title": map_.title, "note": map_.note, "levels": pack(levels.pairs)}
    payload |= {"weights": _floats(map_.weights), "values": _floats(map_.map_values)}
    payload["masked"] = pack(map_.masked.astype(np.uint8)) if map_.masked.any() else ""
    payload["even"] = _floats(map_.even) if "folded" in map_.weights.attrs else ""
    payload["scores"] = _floats(map_.scores) if map_.scores is not None else ""
    payload["order"] = list(map(int, order)) if order is not None else None
    if map_.source is not None:
        payload |= {
            "mean": _floats(mean := map_.source.mean("feature")),
            "mean_levels": pack(scale.levels(mean.values)),
        }
        if order is not None and levels.source is not None:
            payload |= {"source": _floats(ordered(map_.source, order)), "source_levels": pack(levels.source)}
        for name, array in (("weights", map_.source_weights), ("scores", map_.source_scores)):
            if array is not None and array is not map_.source:
                payload[f"mean_{name}"] = _floats(array.mean("feature"))
                payload[f"source_{name}"] = _floats(ordered(array, order)) if order is not None else ""
    return payload


def _floats(array: xr.DataArray) -> str:
    return pack(array.values.astype(np.float32))


def first_cell(maps: Sequence[Map], orders: Sequence[Sequence[int]] | None = None) -> tuple[int, int, int, int]:
    """Where to look first: the pair that holds most against what an even share of its row would; and, as a place in
    the order of its map, the feature that its key has most of."""
    shares = np.stack([map_.weights.values / np.where(map_.masked, np.inf, map_.even.values) for map_ in maps])
    panel, query, key = (int(i) for i in np.unravel_index(shares.argmax(), shares.shape))
    source = maps[panel].source
    if orders is None or source is None:
        return query, key, panel, 0
    features = source.transpose("key", "feature").values[key]
    return query, key, panel, int(features[list(orders[panel])].argmax())


def alt(maps: Sequence[Map], texts: Mapping[str, str]) -> str:
    """What the figure shows in words: its maps, the pair that holds most against an even share, and empty rows; where
    all rows are, that nothing may be attended to."""
    query, key, panel, _ = first_cell(maps)
    words, map_ = [labels(maps[0].map_values, dict(texts), axis) for axis in ("query", "key")], maps[panel]
    governor, dependent = (array[i] for array, i in zip(words, (query, key)))
    weight, share = (float(array.values[query, key]) for array in (map_.weights, map_.even))
    times = weight / share if share else 0.0
    sizes, names = maps[0].map_values.sizes, "; ".join(map_.title for map_ in maps)
    cells = "groups of tokens" if "folded" in map_.weights.attrs else "tokens"
    lead = f"Maps of {sizes['query']} by {sizes['key']} {cells}: {names}."
    if all(map_.masked.all() for map_ in maps):
        return f"{lead} Nothing may be attended to: every row is zeros."
    most = f"“{governor}” gives {100 * weight:.3g} % to “{dependent}”, × {times:.3g} ({map_.title.lower()})"
    return f"{lead} Most against an even share: {most}.{_empty(maps, words[0])}"


def _empty(drawn_maps: Sequence[Map], words: Sequence[str]) -> str:
    """A sentence that begins with a space: which queries are left nothing to attend to, and in which maps."""
    maps: dict[tuple[int, ...], list[str]] = {}
    for map_ in drawn_maps:
        rows = np.flatnonzero(map_.weights.sum("key").values == 0)
        if len(rows):
            maps.setdefault(tuple(map(int, rows)), []).append(map_.title.split(",")[0].lower())
    sentences: list[str] = []
    for queries, names in maps.items():
        who = f"{len(queries)} of {len(words)}" if len(queries) > NAMED else listing([f"“{words[i]}”" for i in queries])
        are = "" if sentences else f" {'is' if len(queries) == 1 else 'are'} left nothing to attend to"
        kind, numbers = names[0].split()[0], [name.split()[-1] for name in names]
        where = f"{kind}{'s' * (len(names) > 1)} {listing(numbers)}" if len(names) < len(drawn_maps) else "every map"
        sentences.append(f"in {where} {who}{are}")
    if not sentences:
        return ""
    sentence = (
        sentences[0].removeprefix("in every map ") if len(drawn_maps) == 1 else "In" + sentences[0].removeprefix("in")
    )
    return f" {', '.join([sentence, *sentences[1:]])}."
