"""Is a difference more than noise?  Between two checkpoints on the same rows, and between two over several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean, stdev

import numpy as np
from scipy.stats import binomtest, ttest_ind_from_stats

LEVEL = 0.05


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


@dataclass(frozen=True)
class Sample:
    """What several runs reached: mean, standard deviation (None of one run), and how many they are."""

    mean: float
    spread: float | None
    count: int


def over_seeds(scores: Mapping[str, Sequence[float]]) -> list[Difference]:
    """Welch's t-test of every two that have two seeds or more: {name: metric of each seed} (Welch 1947)."""
    several = {name: values for name, values in scores.items() if len(values) > 1}
    return between({name: Sample(mean(values), stdev(values), len(values)) for name, values in several.items()})


def between(samples: Mapping[str, Sample]) -> list[Difference]:
    """The same from means and spreads alone, as papers print them; what has one run, or no spread, is not asked."""
    several = {name: one for name, one in samples.items() if one.count > 1 and one.spread is not None}
    found = []
    for a, b in combinations(several, 2):
        left, right = several[a], several[b]
        if left.spread == right.spread == 0:
            p = float(left.mean == right.mean)
        else:
            two = (one for each in (left, right) for one in (each.mean, each.spread, each.count))
            p = float(ttest_ind_from_stats(*two, equal_var=False).pvalue)
        found.append((a, b, right.mean - left.mean, p))
    return [Difference(*one, q) for one, q in zip(found, holm([one[3] for one in found]))]


@dataclass(frozen=True)
class Order:
    """Whether one of several is ahead of all others.

    `status`: "holds" (of each by more than noise), "against" (one is ahead of it by more), "open" (neither), "untested"
    (one run of some), "missing" (no number of some).  `words` says it with numbers,
    `apart` which two differ by more than noise, the greater one first.
    """

    status: str
    words: str
    apart: tuple[tuple[str, str], ...] = ()


def order(samples: Mapping[str, Sample | None], expected: Sequence[str], level: float = LEVEL) -> Order:
    """Is expected[0] ahead of each of the others?  Welch's test of every two, after Holm's correction.

    Raises KeyError where a name of `expected` has no entry.
    """
    missing = [name for name in expected if samples[name] is None]
    if missing:
        return Order("missing", f"No figure of {_listed(missing)}." if len(missing) < len(expected) else "")
    there = {name: samples[name] for name in expected}
    said = _ranking(there)
    single = [name for name, one in there.items() if one.count < 2 or one.spread is None]
    if single:
        return Order("untested", f"{said}, one run of {'each' if len(single) == len(there) else _listed(single)}.")
    tests = {frozenset((one.a, one.b)): one for one in between(there)}
    back, undecided, apart = [], [], []
    for first, second in combinations(expected, 2):
        one, gap = tests[frozenset((first, second))], there[first].mean - there[second].mean
        asked = first == expected[0]
        if one.adjusted >= level:
            undecided += [f"{first} and {second} ({_p(one)})"] * asked
            continue
        apart.append((first, second) if gap > 0 else (second, first))
        if gap < 0 and asked:
            back.append(f"{second} leads {first} by {-gap:.2f} ({_p(one)})")
    if back:
        return Order("against", f"{_listed(back)}.", tuple(apart))
    if not undecided:
        ahead = f"what {expected[0]} is ahead by is more than chance (p < {level:g})"
        return Order("holds", f"{said}; {ahead}.", tuple(apart))
    return Order("open", f"{said}, but not told apart: {_listed(undecided)}.", tuple(apart))


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _ranking(samples: Mapping[str, Sample]) -> str:
    ordered = sorted(samples, key=lambda name: -samples[name].mean)
    text = ordered[0]
    for before, name in zip(ordered, ordered[1:]):
        text += f" {'=' if samples[before].mean == samples[name].mean else '>'} {name}"
    return text


def _p(one: Difference) -> str:
    return "p < 0.001" if one.adjusted < 0.001 else f"p {one.adjusted:.2g}"


def holm(values: Sequence[float]) -> list[float]:
    """p-values after the step-down correction for asking several questions at once (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    steps = np.asarray(values, float)[order] * np.arange(len(values), 0, -1)
    found = np.empty(len(values))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return found.tolist()
