"""Selection of training pairs in which token overlap does not reveal the label.

In LCQMC's training pairs overlap alone predicts far more labels than in its dev pairs, so that a model which relies on
it does not generalise.  Balancing labels among pairs with equal values of a shallow cue is the usual remedy (Gururangan
et al. 2018 and Schwartz et al. 2017 describe such cues).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

BINS = 10


def token_overlap(a: Collection[int], b: Collection[int]) -> float:
    """Share of the tokens of two texts that occur in both (Jaccard)."""
    a, b = set(a), set(b)
    return len(a & b) / max(1, len(a | b))


def balance_labels(overlaps: Sequence[float], labels: Sequence[int], ratio: float, seed: int) -> np.ndarray:
    """Rows to keep, in order: in each tenth of overlap, one label has at most `ratio` times the rows of the other."""
    rng = np.random.default_rng(seed)
    bin_of_row = np.minimum((np.asarray(overlaps) * BINS).astype(int), BINS - 1)
    label_of_row, selected = np.asarray(labels), []
    for number in range(BINS):
        sides = [np.flatnonzero((bin_of_row == number) & (label_of_row == label)) for label in (0, 1)]
        limit = round(ratio * min(map(len, sides)))
        selected += [side if len(side) <= limit else rng.choice(side, limit, replace=False) for side in sides]
    return np.sort(np.concatenate(selected))
