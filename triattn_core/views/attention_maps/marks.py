"""The maps of heads for print: in one row, with source2token below each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
import xarray as xr

from triattn_core.views.attention_maps.maps import Map
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import Scale
from triattn_core.views.lib.tokens import map_labels


@dataclass(frozen=True)
class MapLevels:
    """Levels of one map: uint8 [query, key], and [key, feature] of its source2token in the order of its features."""

    pairs: np.ndarray = field(repr=False)
    source: np.ndarray | None = field(default=None, repr=False)

    @classmethod
    def of(cls, map_: Map, scale: Scale, order: Sequence[int] | None) -> MapLevels:
        """order: the positions of its features; None where they are not drawn one by one."""
        beside = None if map_.source is None or order is None else ordered(map_.source, order)
        return cls(scale.levels(map_.map_values.values), None if beside is None else scale.levels(beside.values))


def ordered(source: xr.DataArray, order: Sequence[int]) -> xr.DataArray:
    """[key, feature], features in this order."""
    return source.transpose("key", "feature").isel(feature=list(order))


def marks(
    maps: Sequence[Map],
    levels: Sequence[MapLevels],
    scale: Scale,
    axes: Mapping[str, Mapping[str, list]],
    orders: Sequence[Sequence[int]] | None,
    cell: Sequence[int],
) -> tuple[MapMark, ...]:
    """axes: query and key as `lib.tokens` gives them.  orders, cell: see `heads.figure`."""
    query, key, _, place = cell
    rows, columns = (map_labels(axes[axis]) for axis in ("query", "key"))
    made = []
    for i, (map_, map_levels, order) in enumerate(zip(maps, levels, orders or repeat(()))):
        pair, sides = (query, key), ("query", "key")
        made.append(
            MapMark(
                map_.title, sides, rows, columns, map_levels.pairs, scale, pair, (0, i), map_.masked, answer=map_.note
            )
        )
        if map_levels.source is not None:
            title = f"{map_.title.partition(',')[0]}: source2token, features in order of likeness"
            features = [str(feature + 1) for feature in order]
            below = (map_levels.source, scale, (key, place), (1, i))
            made.append(MapMark(title, ("key", "feature"), columns, features, *below))
    return tuple(made)
