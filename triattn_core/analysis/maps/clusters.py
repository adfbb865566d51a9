"""Clusters of an MTSA head's features by the similarity of their maps, with a prototype map for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.spatial  # noqa: F401 -- whole, before SciPy's clusters take a part of it: see inference/preload.py
import xarray as xr
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage


@dataclass(frozen=True)
class Clusters:
    """A clustering of features; clusters are numbered from 0 in the order of `order`.

    assignments: [feature], the cluster of each feature.  order: positions of the features.  prototypes: [cluster,
    query, key], the mean map of each cluster, a distribution over keys.  typical: for each cluster, the feature whose
    map is closest to its prototype.  explained_share: share of the variance that is between clusters, 0 to 1; 1 if all
    features are equal.
    """

    assignments: np.ndarray
    order: np.ndarray
    prototypes: np.ndarray
    typical: tuple[int, ...]
    explained_share: float

    def members(self, cluster: int) -> np.ndarray:
        """The positions of a cluster's features, in order."""
        return self.order[self.assignments[self.order] == cluster]


def cluster_features(weights: xr.DataArray, max_clusters: int) -> Clusters:
    """Cluster the features of P [query, key, feature] into at most `max_clusters` clusters.

    Ward's method on the square roots of the maps, whose distance is the Hellinger distance of distributions.
    """
    maps = weights.transpose("feature", "query", "key").values.astype(np.float64)
    points = np.sqrt(maps.reshape(len(maps), -1))
    if len(points) < 2:
        return Clusters(np.zeros(1, int), np.zeros(1, int), maps, (0,), 1.0)
    tree = linkage(points, "ward", optimal_ordering=True)
    order, labels = leaves_list(tree), fcluster(tree, max_clusters, "maxclust")
    number_of = {name: i for i, name in enumerate(dict.fromkeys(labels[order].tolist()))}
    clusters = np.array([number_of[name] for name in labels.tolist()])
    prototypes = np.stack([maps[clusters == i].mean(0) for i in range(len(number_of))])
    distances = ((points - np.sqrt(prototypes).reshape(len(prototypes), -1)[clusters]) ** 2).sum(1)
    typical = tuple(
        int(np.flatnonzero(clusters == i)[distances[clusters == i].argmin()]) for i in range(len(prototypes))
    )
    return Clusters(clusters, order, prototypes, typical, _explained_share(points, clusters))


def similarity_order(source: xr.DataArray) -> list[int]:
    """Positions of the features of source2token weights [key, feature], ordered by similarity."""
    return cluster_features(source.expand_dims("query"), 1).order.tolist()


def _explained_share(points: np.ndarray, clusters: np.ndarray) -> float:
    total = ((points - points.mean(0)) ** 2).sum()
    within = sum(((points[clusters == i] - points[clusters == i].mean(0)) ** 2).sum() for i in set(clusters.tolist()))
    return 1 - float(within / total) if total > 1e-12 else 1.0
