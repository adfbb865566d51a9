"""Whether two systems differ in a score of a whole file, such as BLEU or F1, by more than the noise of its rows.

p: approximate randomisation (Noreen 1989; Riezler, Maxwell 2005), which swaps the answers of both to a random half of
the rows.  Interval: paired bootstrap over rows (Koehn 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from triattn_core.analysis.significance import EXACT, holm
from triattn_core.tasks.task import FileScoreTask

DRAWS, BLOCK = 10_000, 500
Score = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class ScoreDifference:
    """b's score less a's, in points: `gain`, the ends of its 95 % interval, p, and p after Holm's correction.

    seeds: how many runs of each it is the mean of.
    """

    a: str
    b: str
    score: str
    gain: float
    low: float
    high: float
    p: float
    adjusted: float
    seeds: int = 1

    def describe(self) -> str:
        """The difference in a line."""
        over = f", means of {self.seeds} seeds" if self.seeds > 1 else ""
        return (
            f"{self.b} less {self.a}{over}: {self.gain:+.2f} {self.score} (95 % {self.low:+.2f} to {self.high:+.2f}); "
            f"approximate randomisation p {self.p:.3g}, after Holm {self.adjusted:.3g}"
        )


def paired_test(
    first: np.ndarray, second: np.ndarray, score: Score, draws: int = DRAWS, seed: int = 0
) -> tuple[float, float, float, float]:
    """(second less first, low, high, p) of counts [seeds, rows, counts] of two systems on the same rows.

    score: of counts summed over rows; that of several seeds is their mean, and a row is swapped or drawn in all seeds
    together.  p is two-sided; of EXACT rows or fewer all swaps are counted, else `draws` and the one observed.
    """

    def gains(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """[draws] from sums [draws, seeds, counts]."""
        means = [np.array([[score(sums) for sums in seeds] for seeds in side]).mean(-1) for side in (a, b)]
        return means[1] - means[0]

    random, rows = np.random.default_rng(seed), first.shape[1]
    gain = float(gains(first.sum(1)[None], second.sum(1)[None])[0])
    middle, half = (first + second).sum(1) / 2, (first - second) / 2  # the sums are middle ± half, signs flipped
    far = total = int(rows > EXACT)
    for signs in _signs(rows, draws, random):
        moved = np.tensordot(signs, half, (1, 1))
        far += int((np.abs(gains(middle + moved, middle - moved)) >= abs(gain) - 1e-9).sum())
        total += len(signs)
    resampled = []
    for size in _blocks(draws):
        times = random.multinomial(rows, np.full(rows, 1 / rows), size).astype(float)
        resampled.append(gains(*(np.tensordot(times, counts, (1, 1)) for counts in (first, second))))
    low, high = np.quantile(np.concatenate(resampled), [0.025, 0.975])
    return gain, float(low), float(high), far / total


def _signs(rows: int, draws: int, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Patterns [patterns, rows] of 1 and -1, all of them or `draws` drawn ones."""
    if rows <= EXACT:
        yield np.array(list(product((1.0, -1.0), repeat=rows)))
        return
    for size in _blocks(draws):
        yield random.choice(np.array([-1.0, 1.0]), (size, rows))


def _blocks(draws: int) -> list[int]:
    return [min(BLOCK, draws - start) for start in range(0, draws, BLOCK)]


def compare_scores(
    task: FileScoreTask,
    names: Sequence[str],
    verdicts: Sequence[Sequence[tuple]],
    settings: Sequence[tuple[Hashable, int]],
) -> list[ScoreDifference]:
    """The tests of every pair of systems, in the score of the task.

    verdicts: [names][rows].  settings: of each system, what it is but for its seed, and its seed.  Runs of one setting
    are compared with those of another by seed, and in their means; not with each other.
    """
    counts = [np.array([task.counts(verdict) for verdict in rows], float)[None] for rows in verdicts]
    results = []
    for one, other in combinations(_runs(settings), 2):
        seeds = [seed for seed in one if seed in other]
        sides = [[group[seed] for seed in seeds] for group in (one, other)]
        if not seeds:  # each has a run, of another seed
            sides = [[next(iter(group.values()))] for group in (one, other)]
        pairs = [([a], [b]) for a, b in zip(*sides)] + [(sides[0], sides[1])] * (len(seeds) > 1)
        for a, b in pairs:
            first, second = (np.concatenate([counts[number] for number in side]) for side in (a, b))
            tested = paired_test(first, second, task.score)
            results.append(ScoreDifference(names[a[0]], names[b[0]], task.SCORE, *tested, tested[-1], len(a)))
    adjusted = holm([result.p for result in results])
    return [replace(result, adjusted=p) for result, p in zip(results, adjusted)]


def _runs(settings: Sequence[tuple[Hashable, int]]) -> list[dict[int, int]]:
    """The number of each system by its seed, for each setting; where there is one setting, or a run twice, each system
    is on its own."""
    groups: dict[Hashable, dict[int, int]] = {}
    for number, (setting, seed) in enumerate(settings):
        groups.setdefault(setting, {})[seed] = number
    if len(groups) == 1 or sum(map(len, groups.values())) < len(settings):
        return [{0: number} for number in range(len(settings))]
    return list(groups.values())
