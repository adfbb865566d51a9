"""Heads that look alike: their mean distance over rows, and an order in which near ones stand together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.spatial  # whole, before SciPy's clusters take a part of it: see inference/preload.py
from scipy.cluster.hierarchy import leaves_list, linkage


@dataclass(frozen=True)
class HeadDistances:
    """Of the heads of one group: `heads`, their `site` and `head`; distances [heads, heads], 0 where two have the same
    maps on every row and 1 where they never overlap; order: positions of the heads, near ones together."""

    heads: pd.DataFrame
    distances: np.ndarray
    order: np.ndarray

    def nearest(self, head: int, count: int = 3) -> list[int]:
        """Positions of the heads nearest to one, itself left out."""
        return [int(i) for i in self.distances[head].argsort(kind="stable") if i != head][:count]


def head_distances(table: pd.DataFrame, group: str) -> HeadDistances:
    """The heads of a group of `head_profiles.profile_table`, over its rows: sqrt(1 - mean overlap), and the order of
    average linkage with its leaves turned so that neighbours are near."""
    table = table[table["group"] == group]
    heads = table[["site", "head"]].drop_duplicates(ignore_index=True)
    total = np.zeros((len(heads), len(heads)))
    rows = [np.stack(list(group_rows["overlaps"])) for _, group_rows in table.groupby("row", sort=False)]
    for overlaps in rows:
        total += np.clip(overlaps, 0.0, 1.0)
    distances = np.sqrt(np.maximum(1 - (total + total.T) / (2 * len(rows)), 0.0))
    np.fill_diagonal(distances, 0.0)
    if len(heads) < 3:
        return HeadDistances(heads, distances, np.arange(len(heads)))
    tree = linkage(scipy.spatial.distance.squareform(distances, checks=False), "average", optimal_ordering=True)
    return HeadDistances(heads, distances, leaves_list(tree))
