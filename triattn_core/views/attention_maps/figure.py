"""Attention maps as a figure: on one scale, side by side or as one grid, and what they show in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from textwrap import shorten
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.trace.array_rows import NOT_NUMBERS
from triattn_core.trace.listing import listing
from triattn_core.views.attention_maps.described import panel, source_panel
from triattn_core.views.attention_maps.maps import Map
from triattn_core.views.attention_maps.pair_readout import readout
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.figure import Figure, Grid, strongest_cells
from triattn_core.views.lib.palette import LogScale, Scale, SignedScale
from triattn_core.views.lib.strongest import labels
from triattn_core.views.lib.tokens import MARK, tokens

NEEDS = ("head", "query", "key")
NAMED_TOKENS, ROW, COLUMN = 24, 12.5, 12  # of so many tokens each is named: pixels that its label takes
NAMED = 3  # queries that are left nothing to attend to; of more the count is said
SCALES = {
    "weight": "weight, log scale, one for all",
    "relevance": "relevance as its softmax takes it, centred over keys, one for all",
    "contribution": "what values are multiplied by, signed",
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
    marked: tuple[str, int] | None = None,
    large: bool = False,
) -> Canvas:
    """The canvas of one or more maps of the same tokens.

    orders: of each map the positions of its features as they stand, where source2token is drawn token × feature;
    without it each map has the means over features as a strip below.  cell: (query, key, map, place in its order) that
    is chosen at first.  family: the title's first word.  roles: what tokens down and across are called.
    marked: what the word is that the model is asked about, and where it begins in its text: its labels have a mark.
    large: maps without source2token take the room that there is.
    """
    first, scale = maps[0].map_values, scale_of(maps)
    axes = _axes(first, texts, marked)
    many, notes = not orders and not large, describe_aggregation(maps[0].weights)
    if not many:
        axes = {axis: values | {"title": role} for (axis, values), role in zip(axes.items(), roles)}
    panels = [panel(map_, index, scale, order) for index, (map_, order) in enumerate(zip(maps, orders or repeat(None)))]
    is_masked = any(map_.masked.any() for map_ in maps)
    hatched, left = (" Hatched: a mask leaves the pair out.", " of what the mask leaves") if is_masked else ("", "")
    return Figure(
        title=f"{family}: " + shorten(" / ".join(texts.values()), 90, placeholder=" …"),
        alt=alt(maps, texts),
        texts=texts,
        axes={axis: values | {"ink": axis} for axis, values in axes.items()},
        counts={"map": len(maps), "feature": len(orders[0]) if orders else 1},
        cell=tuple(cell or first_cell(maps, orders)),
        scales={"main": scale},
        panels=[*panels, *([source_panel(len(orders[0]))] if orders else [])],
        readout=readout(panels, first.attrs["quantity"]),
        walk=[(query, key, index) for index, query, key in strongest_cells(np.stack([_times(map_) for map_ in maps]))],
        keys=f": another {roles[0]} up and down, another {roles[1]} left and right.{hatched}",
        walks=f"The largest, against an even share{left}",
        grid=_grid(len(maps), many, bool(orders), *(first.sizes[axis] for axis in ("query", "key"))),
        caption=caption,
        notes=notes,
        scale_lines=[mark_legend(marked[0])] if marked else [],
        mark=f"{'even share' if notes else 'even, no mask' if is_masked else 'even'} 1/{first.sizes['key']}",
    ).canvas()


def mark_legend(name: str) -> str:
    """What the mark at the labels of a row and a column stands for."""
    return f"{MARK}the {name}"


def _axes(array: xr.DataArray, texts: Mapping[str, str], marked: tuple[str, int] | None) -> dict[str, dict[str, Any]]:
    """The tokens down and across; of a marked word those that hold its first character have `marked`."""
    axes: dict[str, dict[str, Any]] = {}
    for axis in ("query", "key"):
        axes[axis] = tokens(array, dict(texts), axis, np.arange(array.sizes[axis]))
        if marked:
            ends = zip(axes[axis]["start"], axes[axis]["end"])
            axes[axis]["marked"] = [int(start <= marked[1] < end) for start, end in ends]
    return axes


def _grid(count: int, many: bool, sources: bool, queries: int, keys: int) -> Grid:
    """Many small maps share lines, of few tokens with room for every label; a few, or one, take the room there is."""
    if many:
        wide, finest = 6 if count < 7 else 4, COLUMN if keys <= NAMED_TOKENS else 0
        row = (ROW if queries <= NAMED_TOKENS else 2, 16, 190)
        return Grid((2, wide), 120, finest, cell=(30, 30), row=row, labels=(40, 110), repeats=False)
    row = (5, 25, 280) if sources else (2, 25, 460)
    return Grid((3, 3), 120, cell=(30, 200), row=row, labels=(72, 110))


def _times(map_: Map) -> np.ndarray:
    """[query, key]: the weight, or how large the number of a signed map is, over an even share of what the mask leaves
    its row; NaN where it leaves the pair out."""
    return np.where(map_.masked, np.nan, map_.sizes.astype(np.float32) / np.maximum(_even(map_).values, 1e-30))


def _even(map_: Map) -> xr.DataArray:
    """[query, key]: an even share of what the mask leaves; of the cells of the model where tokens are folded."""
    if "folded" in map_.weights.attrs:
        return map_.even
    counts = (~map_.masked).sum(1, keepdims=True)
    return map_.even.copy(data=np.broadcast_to(1 / np.maximum(counts, 1), map_.masked.shape))


def first_cell(maps: Sequence[Map], orders: Sequence[Sequence[int]] | None = None) -> tuple[int, int, int, int]:
    """Where to look first: the pair that holds most against what an even share of its row would; and, as a place in
    the order of its map, the feature that its key has most of."""
    shares = np.stack([map_.sizes / np.where(map_.masked, np.inf, map_.even.values) for map_ in maps])
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
    if NOT_NUMBERS in map_.weights.attrs and not any(one.weights.values.any() for one in maps):
        return f"{lead} No weight is a number: every row is shown empty."
    if all(map_.masked.all() for map_ in maps):
        return f"{lead} Nothing may be attended to: every row is zeros."
    if map_.signed:
        most = f"“{governor}” takes {weight:.3g} times the value of “{dependent}” ({map_.title.lower()})"
        return f"{lead} Signed. Most against an even share, whatever the sign: {most}."
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
    unknown = any(NOT_NUMBERS in map_.weights.attrs for map_ in drawn_maps)
    for queries, names in maps.items():
        who = f"{len(queries)} of {len(words)}" if len(queries) > NAMED else listing([f"“{words[i]}”" for i in queries])
        verb = "is" if len(queries) == 1 else "are"
        are = "" if sentences else f" {verb} {'empty, not numbers' if unknown else 'left nothing to attend to'}"
        kind, numbers = names[0].split()[0], [name.split()[-1] for name in names]
        where = f"{kind}{'s' * (len(names) > 1)} {listing(numbers)}" if len(names) < len(drawn_maps) else "every map"
        sentences.append(f"in {where} {who}{are}")
    if not sentences:
        return ""
    sentence = (
        sentences[0].removeprefix("in every map ") if len(drawn_maps) == 1 else "In" + sentences[0].removeprefix("in")
    )
    return f" {', '.join([sentence, *sentences[1:]])}."
