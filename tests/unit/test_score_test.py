"""The test of a difference in a score of a whole file, against every swap counted and against sacrebleu's own."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from triattn_core.analysis.score_test import compare_scores, paired_test
from triattn_core.tasks import roles, translation

A = [
    (False, 1, 3, 2, True),
    (True, 2, 2, 2, True),
    (False, 0, 1, 3, True),
    (False, 2, 3, 3, True),
    (False, 1, 4, 2, True),
]
B = [
    (True, 2, 2, 2, True),
    (True, 2, 2, 2, True),
    (False, 2, 3, 3, True),
    (False, 2, 4, 3, True),
    (False, 1, 2, 2, True),
]


def counted(rows: list[tuple]) -> np.ndarray:
    return np.array([roles.counts(row) for row in rows], float)[None]


def f1(rows: list[tuple]) -> float:
    return 200 * sum(row[1] for row in rows) / sum(row[2] + row[3] for row in rows)


def test_p_is_the_share_of_swaps_that_part_them_as_far() -> None:
    """Of five rows all 32 swaps; of sixty copies drawn ones, whose interval holds the gain and is narrower."""
    gain, low, high, p = paired_test(counted(A), counted(B), roles.score)
    far = 0
    for swapped in product((False, True), repeat=5):
        one, other = ([(b, a)[swap == side] for a, b, swap in zip(A, B, swapped)] for side in (False, True))
        far += abs(f1(other) - f1(one)) >= abs(f1(B) - f1(A)) - 1e-9
    assert gain == pytest.approx(f1(B) - f1(A)) and p == far / 32 and 0 < p < 1
    many = paired_test(counted(A * 12), counted(B * 12), roles.score, draws=1000)
    assert many[0] == pytest.approx(gain) and many[3] < 0.01
    assert low < many[1] < gain < many[2] < high
    assert paired_test(counted(A), counted(A), roles.score, draws=100) == (0.0, 0.0, 0.0, 1.0)


def test_runs_are_compared_by_seed_and_in_their_means() -> None:
    """The mean of two seeds is a mean of scores; runs of one setting are no pair, unless there is no other."""
    rows, names = [A, B, B, B], ["a", "b", "a-2", "b-2"]
    settings = [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    first, second, both = compare_scores(roles, names, rows, settings)
    assert [(one.a, one.b, one.seeds) for one in (first, second, both)] == [
        ("a", "b", 1),
        ("a-2", "b-2", 1),
        ("a", "b", 2),
    ]
    assert both.gain == pytest.approx((first.gain + second.gain) / 2) and second.p == 1.0
    assert both.describe().startswith(f"b less a, means of 2 seeds: {both.gain:+.2f} f1 (95 % {both.low:+.2f} to ")
    assert first.adjusted == pytest.approx(min(1.0, max(3 * min(first.p, both.p), 2 * first.p)))
    (alone,) = compare_scores(roles, ["a", "a-2"], [A, B], [("a", 1), ("a", 2)])
    assert (alone.gain, alone.p) == (first.gain, first.p)


def test_bleu_is_that_of_sacrebleu_and_so_is_its_p() -> None:
    significance, metrics = pytest.importorskip("sacrebleu.significance"), pytest.importorskip("sacrebleu.metrics")
    random = np.random.default_rng(3)
    references = [" ".join(random.choice(list("abcdefg"), 9)) for _ in range(40)]

    def system(noise: float) -> list[str]:
        return [" ".join(w if random.random() > noise else "x" for w in text.split()) for text in references]

    first, second = system(0.25), system(0.18)
    verdicts = [[(False, text, [one]) for text, one in zip(texts, references)] for texts in (first, second)]
    counts = [np.array([translation.counts(row) for row in rows], float) for rows in verdicts]
    for texts, one in zip((first, second), counts):
        assert translation.score(one.sum(0)) == pytest.approx(translation.corpus_bleu(texts, [[r] for r in references]))
    gain, low, high, p = paired_test(counts[0][None], counts[1][None], translation.score, draws=1000)
    test = significance.PairedTest([("a", first), ("b", second)], {"BLEU": metrics.BLEU()}, [references], "ar", 1000)
    result = test()[1]["BLEU"][1]
    assert low < gain < high and gain == pytest.approx(result.score - translation.score(counts[0].sum(0)))
    assert 0.01 < p < 0.5 and p == pytest.approx(result.p_value, abs=0.05)
