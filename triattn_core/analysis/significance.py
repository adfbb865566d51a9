"""Significance of differences: between checkpoints on the same rows, and between samples over several seeds.

`scipy.stats` is not imported: it takes longer than all else that a page of stored results waits for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, mean, stdev
from typing import cast

import numpy as np

from triattn_core.trace.listing import listing

LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """The difference of two named samples: `gain` is b's metric less a's, in points; `p` its p-value, `adjusted` after
    Holm's correction over all pairs."""

    a: str
    b: str
    gain: float
    p: float
    adjusted: float
    only_a: int | None = None  # rows that a alone has right
    only_b: int | None = None

    def describe(self) -> str:
        """The result of McNemar's test in a line."""
        return (
            f"{self.b} less {self.a}: {self.gain:+.2f} points; right alone: {self.only_b} and {self.only_a} rows; "
            f"McNemar p {self.p:.3g}, after Holm {self.adjusted:.3g}"
        )


def wilson_interval(right: int, rows: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of rows, between 0 and 1 (Wilson 1927); NaN of no rows."""
    if not rows:
        return math.nan, math.nan
    z = NormalDist().inv_cdf(0.975)
    centre, wrong = 2 * right + z**2, rows - right
    half = z * (4 * right * wrong / rows + z**2) ** 0.5
    low, high = ((centre + sign * half) / (2 * (rows + z**2)) for sign in (-1, 1))
    return low if right else 0.0, high if wrong else 1.0


NO_SHARES = ("bleu", "f1", "average_precision")  # metrics that count no right rows: theirs is not that of a share


def standard_error(share: float, rows: int) -> float:
    """One standard error of a share of rows, in per cent."""
    return float((share * (100 - share) / rows) ** 0.5)


def share_test(a: float, n: int, b: float, m: int) -> float:
    """The two-sided p of the z-test of two shares in per cent, of n and m rows."""
    error = (standard_error(a, n) ** 2 + standard_error(b, m) ** 2) ** 0.5
    return 1.0 if error == 0 else math.erfc(abs(a - b) / error / 2**0.5)


def coin_test(heads: int, throws: int) -> float:
    """The two-sided p of so many heads in throws of a fair coin: the exact binomial test."""
    fewer = min(heads, throws - heads)
    if 2 * fewer == throws:
        return 1.0
    ratios = np.arange(fewer, 0, -1) / np.arange(throws - fewer + 1, throws + 1)  # of the chance of one less
    return min(2 * (math.comb(throws, fewer) / 2**throws) * float(1 + np.cumprod(ratios).sum()), 1.0)


def student_test(t: float, freedom: float) -> float:
    """The two-sided p of Student's t, with so many degrees of freedom."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def mcnemar(
    names: Sequence[str], right: Sequence[Sequence[bool] | np.ndarray], counts: np.ndarray | None = None
) -> list[Difference]:
    """McNemar's exact test of every pair on the rows that exactly one has right (McNemar 1947).

    right: [names][rows], whether each row is answered rightly.  counts: how many rows each of them stands for.
    """
    correct = [np.asarray(rows, bool) for rows in right]
    number = np.ones(len(correct[0]), int) if counts is None else np.asarray(counts)
    results = []
    for i, j in combinations(range(len(names)), 2):
        only_a, only_b = int(number[correct[i] & ~correct[j]].sum()), int(number[correct[j] & ~correct[i]].sum())
        p = coin_test(only_b, only_a + only_b)
        results.append((names[i], names[j], 100 * (only_b - only_a) / int(number.sum()), p, only_a, only_b))
    adjusted = holm([result[3] for result in results])
    return [Difference(a, b, gain, p, q, x, y) for (a, b, gain, p, x, y), q in zip(results, adjusted)]


SIGNS, EXACT = 10_000, 12  # drawn sign patterns; of so many differences or fewer every pattern is counted
MCNEMAR, SIGN_FLIP = "McNemar's exact test", "sign-flip test over rows"


def sign_flip(differences: Sequence[float] | np.ndarray, seed: int = 0) -> float:
    """The two-sided p of paired differences: the share of sign patterns whose sum is at least as far from zero (the
    paired randomisation test of Fisher 1935; Noreen 1989).

    All patterns of up to EXACT differences that are not zero, else SIGNS drawn ones and the own.  Where all differences
    are 1 or -1 and every pattern is counted it is McNemar's exact p.
    """
    values = np.asarray(differences, float)
    values = values[values != 0]
    if not len(values):
        return 1.0
    if len(values) <= EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1)
        extra = 0
    else:
        signs = np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (SIGNS, len(values)))
        extra = 1
    far = np.abs(signs @ values) >= abs(values.sum()) * (1 - 1e-12)
    return float((far.sum() + extra) / (len(signs) + extra))


def paired_p(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> tuple[float, str]:
    """The p of the difference of two scores of the same rows, and the test: McNemar's where a row is right or wrong,
    that of flipped signs where it is right in part."""
    first, second = np.asarray(a, float), np.asarray(b, float)
    if not set(np.unique([first, second])) <= {0.0, 1.0}:
        return sign_flip(second - first), SIGN_FLIP
    (test,) = mcnemar(["a", "b"], [first.astype(bool), second.astype(bool)])
    return test.p, MCNEMAR


@dataclass(frozen=True)
class Sample:
    """A sample of runs: mean, standard deviation (None for one run) and size."""

    mean: float
    spread: float | None
    count: int


def welch_over_seeds(scores: Mapping[str, Sequence[float]]) -> list[Difference]:
    """Welch's t-test of every pair with at least two seeds each: {name: metric of each seed} (Welch 1947)."""
    several = {name: values for name, values in scores.items() if len(values) > 1}
    return welch_tests({name: Sample(mean(values), stdev(values), len(values)) for name, values in several.items()})


def paired_over_folds(scores: Mapping[str, Sequence[float]]) -> list[Difference]:
    """Paired t-test of every pair over the folds of one cross-validation: {name: metric of each fold}.

    The variance of the mean difference is s² (1/k + 1/(k - 1)) for k folds, not s²/k, since the training sets overlap
    (Nadeau, Bengio 2003, Equation 9, with 1/(k - 1) the share of test rows to training rows).
    """
    results = []
    for a, b in combinations(scores, 2):
        gains = [right - left for left, right in zip(scores[a], scores[b], strict=True)]
        k, gain = len(gains), mean(gains)
        error = stdev(gains) * (1 / k + 1 / (k - 1)) ** 0.5
        p = student_test(gain / error, k - 1) if error else float(gain == 0)
        results.append((a, b, gain, p))
    return [Difference(*result, q) for result, q in zip(results, holm([result[3] for result in results]))]


def welch_tests(samples: Mapping[str, Sample]) -> list[Difference]:
    """Welch's t-test from means and spreads, as papers print them; samples of one run or without a spread are
    skipped."""
    several = {name: sample for name, sample in samples.items() if sample.count > 1 and sample.spread is not None}
    results = []
    for a, b in combinations(several, 2):
        gain = several[b].mean - several[a].mean
        variances = [
            (cast(float, sample.spread) ** 2 / sample.count, sample.count) for sample in (several[a], several[b])
        ]
        error = sum(variance for variance, _ in variances)
        freedom = error**2 / sum(variance**2 / (count - 1) for variance, count in variances) if error else 0
        results.append((a, b, gain, student_test(gain / error**0.5, freedom) if error else float(gain == 0)))
    return [Difference(*result, q) for result, q in zip(results, holm([result[3] for result in results]))]


@dataclass(frozen=True)
class RankingTest:
    """The result of testing whether one sample is ahead of all others.

    `status`: "holds" (of each by more than noise), "against" (one is ahead of it by more), "open" (neither), "untested"
    (one run of some), "missing" (no number of some).  `words` says it with numbers,
    `apart` which two differ by more than noise, the greater one first.
    """

    status: str
    words: str
    apart: tuple[tuple[str, str], ...] = ()


def rank_samples(samples: Mapping[str, Sample | None], expected: Sequence[str], level: float = LEVEL) -> RankingTest:
    """Tests whether expected[0] is ahead of each of the others: Welch's test of every pair with Holm's correction.

    Raises KeyError where a name of `expected` has no entry.
    """
    missing = [name for name in expected if samples[name] is None]
    if missing:
        return RankingTest("missing", f"No figure of {listing(missing)}." if len(missing) < len(expected) else "")
    present = {name: sample for name in expected if (sample := samples[name]) is not None}
    ranking = _ranking_text(present)
    single = [name for name, sample in present.items() if sample.count < 2 or sample.spread is None]
    if single:
        return RankingTest(
            "untested", f"{ranking}, one run of {'each' if len(single) == len(present) else listing(single)}."
        )
    tests = {frozenset((test.a, test.b)): test for test in welch_tests(present)}
    back, undecided, apart = [], [], []
    for first, second in combinations(expected, 2):
        test, gap = tests[frozenset((first, second))], present[first].mean - present[second].mean
        is_first = first == expected[0]
        if test.adjusted >= level:
            undecided += [f"{first} and {second} ({_p_text(test)})"] * is_first
            continue
        apart.append((first, second) if gap > 0 else (second, first))
        if gap < 0 and is_first:
            back.append(f"{second} leads {first} by {-gap:.2f} ({_p_text(test)})")
    if back:
        return RankingTest("against", f"{listing(back)}.", tuple(apart))
    if not undecided:
        claim = f"the lead of {expected[0]} is significant (p < {level:g})"
        return RankingTest("holds", f"{ranking}; {claim}.", tuple(apart))
    return RankingTest("open", f"{ranking}, but not significantly different: {listing(undecided)}.", tuple(apart))


def _ranking_text(samples: Mapping[str, Sample]) -> str:
    ordered = sorted(samples, key=lambda name: -samples[name].mean)
    text = ordered[0]
    for before, name in zip(ordered, ordered[1:]):
        text += f" {'=' if samples[before].mean == samples[name].mean else '>'} {name}"
    return text


def _p_text(difference: Difference) -> str:
    return "p < 0.001" if difference.adjusted < 0.001 else f"p {difference.adjusted:.2g}"


def holm(values: Sequence[float]) -> list[float]:
    """p-values after Holm's step-down correction for multiple tests (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    steps = np.asarray(values, float)[order] * np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected.tolist()
