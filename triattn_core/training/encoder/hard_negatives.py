"""Hard negatives for a file with positives only: similar for the start encoder, but never linked by positives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NEAREST = 30
COSINE = (0.35, 0.78)  # below: too easy; above: on Quora mostly unlabelled paraphrases


def clusters(pairs: Sequence[tuple[int, int]], count: int) -> np.ndarray:
    """The cluster of each question; questions connected by a chain of positive pairs share one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = np.array(pairs).T
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def negatives(
    vectors: np.ndarray, pairs: Sequence[tuple[int, int]], links: Sequence[tuple[int, int]], seed: int
) -> list[tuple[int, int]]:
    """One negative for the first question of each pair, if its neighbourhood has one.

    Parameters
    ----------
    vectors: unit vectors of all questions, [questions, features].
    pairs: positive pairs as indices into `vectors`.
    links: all known positive pairs, these and others; questions that a chain of them connects are never negatives.
    """
    rng = np.random.default_rng(seed)
    cluster = clusters(links, len(vectors))
    pairs_found = []
    for start in range(0, len(pairs), 512):
        left = np.array([pair[0] for pair in pairs[start : start + 512]])
        cosine = vectors[left] @ vectors.T
        nearest = np.argpartition(-cosine, min(NEAREST, len(vectors) - 1), axis=1)[:, :NEAREST]
        for row, question in enumerate(left):
            candidates = [
                other
                for other in nearest[row]
                if cluster[other] != cluster[question] and COSINE[0] <= cosine[row, other] <= COSINE[1]
            ]
            if candidates:
                pairs_found.append((int(question), int(rng.choice(candidates))))
    return pairs_found
