"""Clusters of an MTSA head's features by the similarity of their maps, with a prototype map for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage


@dataclass(frozen=True)
class Clusters:
    """A clustering of features; clusters are numbered from 0 in the order of `order`.

    of [feature]: the cluster of each.  order: positions of the features.  prototypes [cluster, query, key]: the mean of
    the features' maps, again a distribution over keys.  typical: of each cluster the feature whose map is nearest to
    it.  explained: the part of the features' spread that lies between clusters, 0 to 1; 1 where all are alike.
    """

    of: np.ndarray
    order: np.ndarray
    prototypes: np.ndarray
    typical: tuple[int, ...]
    explained: float

    def members(self, cluster: int) -> np.ndarray:
        """The positions of a cluster's features, in order."""
        return self.order[self.of[self.order] == cluster]


def cluster_features(weights: xr.DataArray, most: int) -> Clusters:
    """Clusters the features of P [query, key, feature] into at most `most` clusters.

    Ward's method on the square roots of the maps: its distance is that of Hellinger between distributions.
    """
    maps = weights.transpose("feature", "query", "key").values.astype(np.float64)
    points = np.sqrt(maps.reshape(len(maps), -1))
    if len(points) < 2:
        return Clusters(np.zeros(1, int), np.zeros(1, int), maps, (0,), 1.0)
    tree = linkage(points, "ward", optimal_ordering=True)
    order, named = leaves_list(tree), fcluster(tree, most, "maxclust")
    numbers = {name: i for i, name in enumerate(dict.fromkeys(named[order].tolist()))}
    of = np.array([numbers[name] for name in named.tolist()])
    prototypes = np.stack([maps[of == i].mean(0) for i in range(len(numbers))])
    far = ((points - np.sqrt(prototypes).reshape(len(prototypes), -1)[of]) ** 2).sum(1)
    typical = tuple(int(np.flatnonzero(of == i)[far[of == i].argmin()]) for i in range(len(prototypes)))
    return Clusters(of, order, prototypes, typical, _explained_share(points, of))


def similarity_order(source: xr.DataArray) -> list[int]:
    """The positions of the features of source2token weights [key, feature], ordered by similarity."""
    return cluster_features(source.expand_dims("query"), 1).order.tolist()


def _explained_share(points: np.ndarray, of: np.ndarray) -> float:
    spread = ((points - points.mean(0)) ** 2).sum()
    within = sum(((points[of == i] - points[of == i].mean(0)) ** 2).sum() for i in set(of.tolist()))
    return 1 - float(within / spread) if spread > 1e-12 else 1.0
