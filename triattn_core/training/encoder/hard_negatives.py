"""Hard negatives for a file that holds positives only: near in meaning to the start encoder, yet never linked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NEAREST = 30
COSINE = (0.35, 0.78)  # below: too easy; above: on Quora mostly unmarked paraphrases


def clusters(pairs: Sequence[tuple[int, int]], count: int) -> np.ndarray:
    """A cluster number per question: questions joined by a chain of positive pairs share one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = np.array(pairs).T
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def negatives(
    vectors: np.ndarray, pairs: Sequence[tuple[int, int]], links: Sequence[tuple[int, int]], seed: int
) -> list[tuple[int, int]]:
    """One negative for the first question of each pair, where its neighbourhood has one.

    Parameters
    ----------
    vectors: unit vectors of all questions, [questions, features].
    pairs: positive pairs as indices into `vectors`.
    links: all positive pairs that are known, these and others: what a chain of them joins is never a negative.
    """
    rng = np.random.default_rng(seed)
    cluster = clusters(links, len(vectors))
    drawn = []
    for start in range(0, len(pairs), 512):
        left = np.array([pair[0] for pair in pairs[start : start + 512]])
        cosine = vectors[left] @ vectors.T
        near = np.argpartition(-cosine, min(NEAREST, len(vectors) - 1), axis=1)[:, :NEAREST]
        for row, question in enumerate(left):
            fit = [
                other
                for other in near[row]
                if cluster[other] != cluster[question] and COSINE[0] <= cosine[row, other] <= COSINE[1]
            ]
            if fit:
                drawn.append((int(question), int(rng.choice(fit))))
    return drawn
