"""The rows of each batch, as a function of seed and epoch alone, so that a run can be resumed anywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

WINDOW = 50  # batches sorted by length together: little padding, still nearly random
GROUP = 12  # batches of similar first length that are sorted by the second


def batches(lengths: np.ndarray, size: int, seed: int, epoch: int, window: int = WINDOW) -> list[np.ndarray]:
    """Row indices per batch for one epoch: rows of similar length together, batches in random order.

    lengths: [rows], or [rows, 2] if two lengths determine the cost (a cube's query and key).
    """
    rng = np.random.default_rng((seed, epoch))
    lengths = lengths.reshape(len(lengths), -1)
    batch_rows = []
    for rows in _cut(rng.permutation(len(lengths)), size * window):
        for column, span in enumerate((len(rows), size * GROUP)[: lengths.shape[1]]):
            rows = np.concatenate([part[np.argsort(lengths[part, column], kind="stable")] for part in _cut(rows, span)])
        batch_rows += _cut(rows, size)
    rng.shuffle(batch_rows)
    return batch_rows


class Epochs:
    """The rows of each step over the epochs of a config's `training`; one epoch's order is kept at a time.

    steps: their number; ends: the step counts at which an epoch is over.
    """

    def __init__(self, lengths: np.ndarray, training, window: int = WINDOW):
        self.lengths, self.training, self.window = lengths, training, window
        self.per_epoch = -(-len(lengths) // training.batch)
        self.steps = training.epochs * self.per_epoch
        self.ends = frozenset(range(self.per_epoch, self.steps + 1, self.per_epoch))
        self._order: tuple[int, list[np.ndarray]] = (-1, [])

    def rows(self, step: int) -> np.ndarray:
        """The row indices of a step, from 0."""
        epoch, place = divmod(step, self.per_epoch)
        if epoch != self._order[0]:
            self._order = epoch, batches(self.lengths, self.training.batch, self.training.seed, epoch, self.window)
        return self._order[1][place]


def share(rows: np.ndarray, process: int, processes: int) -> np.ndarray:
    """The rows of a batch for one of several processes, at least one each."""
    return rows[process::processes] if len(rows) > process else rows[[process % len(rows)]]


def _cut(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def schedule(training, steps: int) -> Callable[[int], float]:
    """The learning rate of each step, by the `schedule` of a config's `training`; linear by default."""
    name = getattr(training, "schedule", "linear")
    if name == "constant":
        return lambda step: training.rate
    if name == "exponential":
        return lambda step: training.rate * training.decay ** (step * training.epochs / steps)
    return lambda step: learning_rate(step, steps, training.rate)


def learning_rate(step: int, steps: int, peak: float, warmup: float = 0.1) -> float:
    """Linear warm-up over the first share `warmup` of the steps, then linear decay to zero."""
    warmup_steps = max(1, round(steps * warmup))
    return peak * min((step + 1) / warmup_steps, max(0.0, (steps - step) / max(1, steps - warmup_steps)))
