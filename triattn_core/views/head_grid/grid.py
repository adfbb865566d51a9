"""The thumbnails of all heads: pooled, on one scale, with the measures of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import SIDES, Site
from triattn_core.trace.sites import layer_by_layer, layer_numbers, two_way_sites, two_way_weights
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import LogScale

FINEST = 48  # cells of a thumbnail along an axis
MEASURE_NAMES = {  # of `analysis.maps.head_measures`, with what each says
    "entropy": ("entropy (bits)", "Spread of a query's weights: 0 on one key, log2(number of keys) if even."),
    "query_information": (
        "query information (bits)",
        "How much the key depends on the query: 0 where all queries attend alike.",
    ),
    "context_information": (
        "context information (bits)",
        "How much the key depends on the context, for a query: 0 where the cube is the product of its margins.",
    ),
    "distance": ("distance (tokens)", "How far away the keys of a query are, on average."),
    "sink": (
        "sink mass",
        "The mean weight of the key that gets most, special tokens included: near 1, all queries attend to one key.",
    ),
    "special": ("on special tokens", "The share of the weight that special tokens such as [SEP] hold."),
}


@dataclass(frozen=True)
class Grid:
    """The thumbnails of all heads: a site of the trace a row, on one scale.

    levels: of each site uint8 [head, rows, columns], which may differ between directions of a pair.  keys: the most of
    a map, before it is pooled; keys_agree: whether all have as many.  values: of each
    measure that has any, or of the first, site by site and head by head.
    """

    sites: Sequence[Site]
    scale: LogScale
    levels: Sequence[np.ndarray] = field(repr=False)
    keys: int
    keys_agree: bool
    pooled: bool
    values: Mapping[str, list[list[float | None]]] = field(repr=False)

    @classmethod
    def of(cls, trace: AttentionTrace, measures: pd.DataFrame) -> Grid:
        """See `figure`.  Raises TraceError where there are no weights over query and key."""
        sites = layer_by_layer(sorted(two_way_sites(trace)))
        maps = [two_way_weights(trace, site) for site in sites]
        keys = max(array.sizes["key"] for array in maps)
        scale = LogScale.fit(np.concatenate([array.values.ravel() for array in maps]), keys)
        levels = [scale.levels(_pooled(array.values)) for array in maps]
        of_site = [measures.loc[measures["site"] == str(site)].sort_values("head") for site in sites]
        known = [name for name in MEASURE_NAMES if measures[name].notna().any()]
        names = known or list(MEASURE_NAMES)[:1]  # of maps without any weight, such as that of one masked token
        values = {name: [_numbers(rows[name]) for rows in of_site] for name in names}
        scale = replace(scale, title="weight, log scale, one for all")
        keys_agree = all(array.sizes["key"] == keys for array in maps)
        pooled = any(thumbs.shape != array.shape for thumbs, array in zip(levels, maps))
        return cls(sites, scale, levels, keys, keys_agree, pooled, values)

    @property
    def titles(self) -> list[str]:
        """Of each row the number of its layer, with a letter where a layer has several, as for each direction of a
        pair; of a single one nothing."""
        if len(self.sites) == 1:
            return [""]
        layers = list(layer_numbers(self.sites).values())
        if len({site.role for site in self.sites}) > 1 and all(site.role in SIDES for site in self.sites):
            return [f"{layer + 1} {site.role}" for layer, site in zip(layers, self.sites)]
        letters = [chr(ord("a") + layers[:i].count(layer)) for i, layer in enumerate(layers)]
        return [f"{layer + 1}{letter * (layers.count(layer) > 1)}" for layer, letter in zip(layers, letters)]

    @property
    def heads(self) -> int:
        """Of the site that has most."""
        return max(map(len, self.levels))

    def measure(self, name: str) -> str:
        """A measure, or the first that is known where this one is not."""
        return name if name in self.values else next(iter(self.values))

    def marks(self, measure: str) -> tuple[MapMark, ...]:
        """A thumbnail a head, with the measure below it."""
        marks = []
        for index, (title, site, values) in enumerate(zip(self.titles, self.levels, self.values[measure])):
            rows, columns = ([str(i + 1) for i in range(size)] for size in site.shape[1:])
            for head, (levels, value) in enumerate(zip(site, values)):
                name = f"{title}.{head + 1}" if title else str(head + 1)
                maps = (("query", "key"), rows, columns, levels, self.scale, (0, 0), (index, head))
                marks.append(MapMark(name, *maps, answer="" if value is None else f"{value:.2g}", thumb=True))
        return tuple(marks)


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
