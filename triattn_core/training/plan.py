"""Which rows make which batch: a function of the seed and the epoch alone, so that a run can be resumed anywhere."""

from __future__ import annotations

import numpy as np

WINDOW = 50  # batches sorted by length together: little padding, still nearly random


def batches(lengths: np.ndarray, size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Row indices per batch for one epoch, rows of like length together, batches in random order."""
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    found = []
    for start in range(0, len(order), size * WINDOW):
        window = order[start : start + size * WINDOW]
        window = window[np.argsort(lengths[window], kind="stable")]
        found += [window[i : i + size] for i in range(0, len(window), size)]
    rng.shuffle(found)
    return found


def share(rows: np.ndarray, number: int, count: int) -> np.ndarray:
    """The rows of process `number` of `count`; never none, or the others would wait for it in vain."""
    return rows[number % len(rows) :: count]


def learning_rate(step: int, steps: int, peak: float, warmup: float = 0.1) -> float:
    """Linear warm-up over the first share `warmup` of the steps, then linear decay to zero."""
    rising = max(1, round(steps * warmup))
    return peak * min((step + 1) / rising, max(0.0, (steps - step) / max(1, steps - rising)))
