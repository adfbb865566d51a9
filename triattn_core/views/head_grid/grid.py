"""The thumbnails of all heads: pooled, on one scale, with the measures of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import WITHOUT_ATTENTION
from triattn_core.trace.site import Site
from triattn_core.trace.sites import (
    drawn_sites,
    is_signed,
    layer_by_layer,
    layer_numbers,
    layer_titles,
    two_way_weights,
)
from triattn_core.views.lib.palette import LogScale, Scale, SignedScale

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
    """The thumbnails of all heads: a site of the trace a row, weights on one scale and signed maps on another.

    scales: of each site.  levels: of each site uint8 [head, rows, columns], which may differ between directions of a
    pair.  keys: the most of a map, before it is pooled; keys_agree: whether all have as many.  values: of each measure
    that has any, or of the first, [site, head], NaN where there is none.  missing: in words, the layers without
    attention before each row and, last, after all.
    """

    sites: Sequence[Site]
    scales: Sequence[Scale]
    levels: Sequence[np.ndarray] = field(repr=False)
    keys: int
    keys_agree: bool
    pooled: bool
    values: Mapping[str, np.ndarray] = field(repr=False)
    missing: Sequence[str] = field(default=(), repr=False)

    @classmethod
    def of(cls, trace: AttentionTrace, measures: pd.DataFrame) -> Grid:
        """See `figure`.  Raises TraceError where there are no weights over query and key."""
        sites = layer_by_layer(drawn_sites(trace))
        maps = [two_way_weights(trace, site) for site in sites]
        keys = max(array.sizes["key"] for array in maps)
        scales = _scales(sites, maps, keys)
        levels = [scale.levels(_pooled(array.values)) for scale, array in zip(scales, maps)]
        of_site = [_rows(measures, site, array.sizes["head"]) for site, array in zip(sites, maps)]
        known = [name for name in MEASURE_NAMES if measures[name].notna().any()]
        names = known or list(MEASURE_NAMES)[:1]  # of maps without any weight, such as that of one masked token
        values = {name: _padded([rows[name].to_numpy(np.float32) for rows in of_site]) for name in names}
        keys_agree = all(array.sizes["key"] == keys for array in maps)
        pooled = any(thumbs.shape != array.shape for thumbs, array in zip(levels, maps))
        missing = _missing(sites, str(trace.meta.get(WITHOUT_ATTENTION, "")))
        return cls(sites, scales, levels, keys, keys_agree, pooled, values, missing)

    @property
    def titles(self) -> list[str]:
        """Of each row the number of its layer, see `layer_titles`."""
        return layer_titles(self.sites)

    @property
    def heads(self) -> int:
        """Of the site that has most."""
        return max(map(len, self.levels))

    def measure(self, name: str) -> str:
        """A measure, or the first that is known where this one is not."""
        return name if name in self.values else next(iter(self.values))


def _scales(sites: Sequence[Site], maps: Sequence[xr.DataArray], keys: int) -> list[Scale]:
    """One scale for all weights, one for all signed maps; of each site the one that it is drawn on."""
    numbers: dict[bool, list[np.ndarray]] = {False: [np.empty(0)], True: [np.empty(0)]}
    for site, array in zip(sites, maps):
        numbers[is_signed(site)].append(array.values.ravel())
    log = replace(LogScale.fit(np.concatenate(numbers[False]), keys), title="weight, log scale, one for all")
    signed = SignedScale.of(np.concatenate(numbers[True]), title="signed, one for all")
    return [signed if is_signed(site) else log for site in sites]


def _rows(measures: pd.DataFrame, site: Site, heads: int) -> pd.DataFrame:
    """The measures of the heads of a site; of a signed map, which has none, rows without numbers."""
    rows = measures.loc[measures["site"] == str(site)].sort_values("head")
    return pd.DataFrame(np.nan, range(heads), list(MEASURE_NAMES)) if is_signed(site) else rows


def _missing(sites: Sequence[Site], layers: str) -> list[str]:
    """`Grid.missing`.  layers: the numbers of those without attention, from 0, comma-separated."""
    numbers, rows = [int(number) for number in layers.split(",") if number], layer_numbers(sites)
    ends = [-1, *(rows[site] for site in sites), max(numbers, default=0) + 1]
    return [_in_words([n + 1 for n in numbers if low < n < high]) for low, high in pairwise(ends)]


def _in_words(numbers: Sequence[int]) -> str:
    if not numbers:
        return ""
    names = f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
    return f"layer{'s' * (len(numbers) > 1)} {names}: no attention"


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """[row, column], NaN where a row is shorter than others or a number is not finite."""
    padded = np.full((len(rows), max(map(len, rows))), np.nan, np.float32)
    for line, row in zip(padded, rows):
        line[: len(row)] = np.where(np.isfinite(row), row, np.nan)
    return padded


def _pooled(weights: np.ndarray) -> np.ndarray:
    """[head, rows, columns], at most FINEST of either: the largest of each block, whatever its sign."""
    for axis in (1, 2):
        size = weights.shape[axis]
        if size > FINEST:
            starts = np.linspace(0, size, FINEST, endpoint=False).astype(int)
            most, least = np.maximum.reduceat(weights, starts, axis), np.minimum.reduceat(weights, starts, axis)
            weights = np.where(-least > most, least, most)
    return weights
