"""Is a difference more than noise?  Between two checkpoints on the same rows, and between two over several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean, stdev

import numpy as np
from scipy.stats import binomtest, ttest_ind


@dataclass(frozen=True)
class Difference:
    """Two by name; `gain` is b's metric less a's, in points; `p` the probability of so large a gain without a reason,
    `adjusted` the same after Holm's correction over all pairs asked at once."""

    a: str
    b: str
    gain: float
    p: float
    adjusted: float
    only_a: int | None = None  # rows that a alone has right
    only_b: int | None = None


def on_rows(names: Sequence[str], right: Sequence[Sequence[bool]]) -> list[Difference]:
    """McNemar's exact test of every two on the rows that one of them alone has right (McNemar 1947).

    right: [names][rows], whether each row is answered rightly.
    """
    right = [np.asarray(one, bool) for one in right]
    found = []
    for i, j in combinations(range(len(names)), 2):
        only_a, only_b = int((right[i] & ~right[j]).sum()), int((right[j] & ~right[i]).sum())
        p = binomtest(only_b, only_a + only_b).pvalue if only_a + only_b else 1.0
        found.append((names[i], names[j], 100 * (only_b - only_a) / len(right[i]), float(p), only_a, only_b))
    adjusted = holm([one[3] for one in found])
    return [Difference(a, b, gain, p, q, x, y) for (a, b, gain, p, x, y), q in zip(found, adjusted)]


def over_seeds(scores: dict[str, Sequence[float]]) -> list[Difference]:
    """Welch's t-test of every two that have two seeds or more: {name: metric of each seed} (Welch 1947)."""
    several = {name: values for name, values in scores.items() if len(values) > 1}
    found = []
    for a, b in combinations(several, 2):
        same = stdev(several[a]) == stdev(several[b]) == 0
        p = float(mean(several[a]) == mean(several[b])) if same else float(
            ttest_ind(several[a], several[b], equal_var=False).pvalue
        )
        found.append((a, b, mean(several[b]) - mean(several[a]), p))
    return [Difference(*one, q) for one, q in zip(found, holm([one[3] for one in found]))]


def holm(values: Sequence[float]) -> list[float]:
    """p-values after the step-down correction for asking several questions at once (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    steps = np.asarray(values, float)[order] * np.arange(len(values), 0, -1)
    found = np.empty(len(values))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return found.tolist()
