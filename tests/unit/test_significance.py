"""Tests of differences against their definitions: counted out, written out, or worked by hand."""

from __future__ import annotations

import json
import math
from itertools import chain, combinations
from statistics import mean

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binomtest, norm, ttest_ind_from_stats, ttest_rel
from scipy.stats import t as student

from triattn_core.__main__ import main
from triattn_core.analysis.significance import (
    Sample,
    coin_test,
    holm,
    mcnemar,
    paired_over_folds,
    share_test,
    standard_error,
    student_test,
    welch_over_seeds,
    welch_tests,
    wilson_interval,
)


def coin(k: int, n: int) -> float:
    """How likely n throws of a fair coin give a count at least as far from n/2 as k."""
    far = abs(2 * k - n)
    return sum(math.comb(n, i) for i in range(n + 1) if abs(2 * i - n) >= far) / 2**n


def closed(values: list[float]) -> list[float]:
    """Holm by closed testing: a hypothesis falls where each set with it falls by Bonferroni (Marcus et al. 1976)."""
    every = range(len(values))
    sets = list(chain.from_iterable(combinations(every, size) for size in range(1, len(values) + 1)))
    return [max(min(1.0, len(some) * min(values[j] for j in some)) for some in sets if i in some) for i in every]


def rows(both: int, only_a: int, only_b: int, neither: int, seed: int = 1) -> list[list[bool]]:
    """What two have right of so many rows, in random order."""
    right = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, only_a, only_b, neither], axis=0)
    np.random.default_rng(seed).shuffle(right)
    return right.T.astype(bool).tolist()


@pytest.mark.parametrize(
    ("only_a", "only_b"), [(0, 0), (0, 1), (1, 0), (3, 3), (0, 7), (2, 9), (9, 2), (13, 29), (60, 31)]
)
@pytest.mark.parametrize(("both", "neither"), [(11, 5), (0, 1)])
def test_mcnemar_counts_the_rows_that_one_alone_has_right(only_a, only_b, both, neither):
    right = rows(both, only_a, only_b, neither)
    (comparison,) = mcnemar(["a", "b"], right)
    assert (comparison.a, comparison.b, comparison.only_a, comparison.only_b) == ("a", "b", only_a, only_b)
    assert comparison.p == comparison.adjusted == pytest.approx(coin(only_b, only_a + only_b), rel=1e-9)
    assert comparison.gain == pytest.approx(100 * (mean(right[1]) - mean(right[0])))


def test_rows_that_both_have_right_say_nothing():
    few, many = (mcnemar("ab", rows(both, 4, 15, 3))[0] for both in (0, 5000))
    assert few.p == many.p < 0.05
    assert few.gain > 100 * many.gain > 0


def test_every_two_are_asked_and_the_more_are_asked_the_less_is_proved():
    a, b = rows(40, 5, 20, 10)
    comparisons = mcnemar("abc", [a, b, rows(40, 5, 20, 10, seed=2)[0]])
    assert [(comparison.a, comparison.b) for comparison in comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [comparison.adjusted for comparison in comparisons] == pytest.approx(
        closed([comparison.p for comparison in comparisons])
    )
    alone = mcnemar("ab", [a, b])[0]
    assert comparisons[0].p == alone.p == alone.adjusted < comparisons[0].adjusted


def test_chance_passes_for_a_difference_no_more_often_than_it_says():
    """400 times two guessers: p under 0.05 in at most about one of twenty."""
    rng = np.random.default_rng(5)
    comparisons = []
    for _ in range(400):
        comparisons.append(mcnemar("ab", rng.integers(2, size=(2, 200)).astype(bool).tolist()))
    assert 0 < sum(comparison.p < 0.05 for (comparison,) in comparisons) < 32
    assert 0.3 < mean(comparison.gain > 0 for (comparison,) in comparisons) < 0.7


def test_holm_on_four_worked_by_hand():
    """0.005 · 4, 0.01 · 3, 0.03 · 2 and, never below the one before it, 0.04 · 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize("count", range(7))
def test_holm_is_closed_testing(count):
    rng = np.random.default_rng(count)
    for _ in range(30):
        values = (rng.random(count) ** 4).round(2).tolist()  # small ones, equal ones, and 0
        assert holm(values) == pytest.approx(closed(values))


def test_welch_by_hand():
    """Variances 5/3 and 20/3 of four each: t² = 2.5² / (25/12) = 3, with 75/17 degrees of freedom."""
    (comparison,) = welch_over_seeds({"a": [1.0, 2.0, 3.0, 4.0], "b": [2.0, 4.0, 6.0, 8.0]})
    freedom = 75 / 17
    assert comparison.p == pytest.approx(betainc(freedom / 2, 0.5, freedom / (freedom + 3)), rel=1e-9)
    assert (comparison.gain, comparison.adjusted) == (2.5, comparison.p)
    assert comparison.only_a is None is comparison.only_b


def exchanged(a: list[float], b: list[float]) -> float:
    """The share of all ways to deal the scores to two hands whose means are as far apart."""
    scores, far = [*a, *b], abs(mean(b) - mean(a)) - 1e-9
    hands = [set(hand) for hand in combinations(range(len(scores)), len(a))]
    means = [(mean(scores[i] for i in hand), mean(s for i, s in enumerate(scores) if i not in hand)) for hand in hands]
    return mean(abs(left - right) >= far for left, right in means)


@pytest.mark.parametrize("shift", [-1.5, -0.4, 0.0, 0.3, 0.8])
def test_welch_goes_the_way_of_dealing_the_scores_anew(shift):
    rng = np.random.default_rng(8)
    a, b = rng.normal(85, 0.4, 6).tolist(), rng.normal(85 + shift, 0.5, 6).tolist()
    (comparison,) = welch_over_seeds({"a": a, "b": b})
    assert comparison.gain == pytest.approx(mean(b) - mean(a))
    assert abs(comparison.p - exchanged(a, b)) < 0.05
    (back,) = welch_over_seeds({"b": b, "a": a})
    assert (back.a, back.gain) == ("b", -comparison.gain)
    assert back.p == pytest.approx(comparison.p)


def test_one_seed_proves_nothing_and_is_not_asked():
    assert (
        welch_over_seeds({})
        == welch_over_seeds({"a": [80.0]})
        == welch_over_seeds({"a": [80.0, 81.0], "b": [90.0]})
        == []
    )
    comparisons = welch_over_seeds({"a": [80.0, 81.0], "one": [99.0], "b": [80.5, 82.0], "c": [90.0, 90.5]})
    assert [(comparison.a, comparison.b) for comparison in comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [comparison.adjusted for comparison in comparisons] == pytest.approx(
        closed([comparison.p for comparison in comparisons])
    )


def test_seeds_that_do_not_move_the_number():
    same, other = [80.0] * 3, [81.0] * 3
    assert [comparison.p for comparison in welch_over_seeds({"a": same, "b": list(same)})] == [1.0]
    assert [comparison.p for comparison in welch_over_seeds({"a": same, "b": other})] == [0.0]


def test_folds_are_paired_and_their_training_sets_overlap():
    a, b = [80.0, 82.0, 81.0, 85.0, 79.0], [81.0, 82.5, 83.0, 85.5, 80.0]  # gains 1, 0.5, 2, 0.5, 1
    (difference,) = paired_over_folds({"a": a, "b": b})
    plain = ttest_rel(b, a).statistic
    assert difference.gain == pytest.approx(1.0)
    assert difference.p == pytest.approx(2 * student.sf(plain * (1 / 5 / (1 / 5 + 1 / 4)) ** 0.5, 4))
    assert difference.p > 2 * ttest_rel(b, a).pvalue
    with pytest.raises(ValueError):
        paired_over_folds({"a": a, "b": b[:4]})
    assert [pair.p for pair in paired_over_folds({"a": a, "b": a, "c": [x + 1 for x in a]})] == [1.0, 0.0, 0.0]


# --- the same numbers as SciPy's, which is not imported for them ---


@pytest.mark.parametrize("throws", [1, 2, 7, 60, 999, 20_000])
def test_coin_test_is_scipys_binomial_test(throws):
    for heads in sorted({0, 1, throws // 3, throws * 49 // 100, throws // 2, throws - throws // 2, throws}):
        assert coin_test(heads, throws) == pytest.approx(binomtest(heads, throws).pvalue, rel=1e-12, abs=1e-300)


def test_tails_of_the_normal_and_of_students_distribution_are_scipys():
    for z in np.linspace(0, 30, 61):
        b = 50 + z * 2**0.5 * standard_error(50, 10**6)
        error = (standard_error(50, 10**6) ** 2 + standard_error(b, 10**6) ** 2) ** 0.5
        assert share_test(50, 10**6, b, 10**6) == pytest.approx(2 * norm.sf((b - 50) / error), rel=1e-12)
        for freedom in (1, 2.37, 4, 30.5, 1000):
            assert student_test(-z, freedom) == student_test(z, freedom)
            assert student_test(z, freedom) == pytest.approx(2 * student.sf(z, freedom), rel=1e-12)


def test_welch_is_scipys_of_the_same_means_and_spreads():
    a, b = Sample(80.25, 0.31, 5), Sample(80.9, 0.77, 3)
    (difference,) = welch_tests({"a": a, "b": b})
    expected = ttest_ind_from_stats(a.mean, a.spread, a.count, b.mean, b.spread, b.count, equal_var=False)
    assert difference.p == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 41, 5000])
def test_wilson_interval_is_scipys(rows):
    for right in sorted({0, 1, rows // 3, rows - 1, rows}):
        expected = binomtest(right, rows).proportion_ci(0.95, "wilson")
        assert wilson_interval(right, rows) == pytest.approx(expected, rel=1e-12, abs=1e-15)


# --- triattn seeds ---


@pytest.fixture
def checkpoint_folder(tmp_path, monkeypatch):
    """Records of four checkpoints; one has one seed."""
    scores = {"x-bi": [80.0, 80.5, 80.2], "x-tri": [84.0, 84.6, 84.1], "x-cbi": [81.0], "x-bi-dot": [79.0, 79.5]}
    for name, values in scores.items():
        (tmp_path / name).mkdir()
        similarity = "dot" if name.endswith("dot") else "additive"
        model = {"mechanism": name.split("-")[1], "similarity": similarity}
        config = {"task": "pairs", "model": model, "data": {"dev": "quora/dev", "test": "quora/test"}}
        seeds = [{"seed": n, "dev": 1.0, "test": value} for n, value in enumerate(values, 1)]
        (tmp_path / name / "config.json").write_text(json.dumps(config))
        (tmp_path / name / "metrics.json").write_text(json.dumps({"seeds": seeds}))
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path))
    return tmp_path


def test_triattn_seeds_compares_what_shares_a_set_and_a_similarity(checkpoint_folder, capsys):
    assert main(["seeds", "--json"]) == 0
    groups = {(record["data"], record["similarity"]): record for record in json.loads(capsys.readouterr().out)}
    assert list(groups) == [("Quora", "additive"), ("Quora", "dot")]
    additive = groups["Quora", "additive"]
    assert additive["test"] == {"x-bi": [80.0, 80.5, 80.2], "x-tri": [84.0, 84.6, 84.1]}
    (difference,) = additive["differences"]
    assert difference == vars(welch_over_seeds(additive["test"])[0])
    assert difference["gain"] > 3.9 and difference["p"] < 0.001
    assert groups["Quora", "dot"]["differences"] == []


def test_triattn_seeds_in_words(checkpoint_folder, capsys):
    assert main(["seeds"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Quora, additive"
    assert lines[1].split() == "x-bi 80.23 ± 0.25 over 3 seeds".split()
    assert lines[3].startswith("  x-tri less x-bi: +4.00; Welch p ")
    assert not any("x-cbi" in line for line in lines)


def test_triattn_seeds_compares_models_on_the_same_folds_alone(checkpoint_folder, capsys):
    (checkpoint_folder / "results").mkdir()
    lines = []
    runs = {"one": [80.0, 81.0], "two": [82.0, 84.0], "other": [70.0, 71.0], "more": [1.0, 2.0], "yet": [1.0, 3.0]}
    for split, (name, scores) in zip((1, 1, 2, 3, 3), runs.items()):
        data = {"train": ["cr/all"], "test": "cr/all", "folds": 2, "split_seed": split}
        each = {"folds": {"each": scores, "of": "test", "metric": "accuracy"}, "each_seed": [{"seed": 1}]}
        lines.append(json.dumps({"name": name, "digest": name, "config": {"task": "sentences", "data": data}, **each}))
    (checkpoint_folder / "results" / "trained.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    assert main(["seeds", "--json"]) == 0
    group, later = (group for group in json.loads(capsys.readouterr().out) if group["over"] == "folds")
    assert later["test"] == {"more": [1.0, 2.0], "yet": [1.0, 3.0]}  # of as many folds, split otherwise
    assert group["data"] == "CR" and group["test"] == {"one": [80.0, 81.0], "two": [82.0, 84.0]}
    assert group["differences"] == [vars(paired_over_folds(group["test"])[0])]
    assert main(["seeds"]) == 0
    assert "  two less one: +2.50; paired t, corrected for folds, p " in capsys.readouterr().out


def test_triattn_seeds_reads_runs_that_were_not_kept_from_their_records(checkpoint_folder, capsys):
    (checkpoint_folder / "results").mkdir()
    data = {"dev": "multi30k_tok/dev", "test": "multi30k_tok/test"}
    runs = {"m-mtsa": [35.66, 35.78, 35.33], "m-multi-head": [34.07, 33.65, 33.97], "m-one": [1.0], "x-bi": [1.0, 2.0]}
    lines = []
    for name, scores in runs.items():
        each = [{"seed": n, "test": {"set": "m/test", "bleu": value}} for n, value in enumerate(scores, 1)]
        config = {"task": "translation", "data": data, "model": {"mechanism": name}}
        lines.append(json.dumps({"name": name, "digest": name, "config": config, "each_seed": each}))
    (checkpoint_folder / "results" / "trained.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    assert main(["seeds", "--json"]) == 0
    groups = {record["data"]: record for record in json.loads(capsys.readouterr().out)}
    group = groups["Multi30k"]
    assert group["test"] == {name: runs[name] for name in ("m-mtsa", "m-multi-head")}
    (difference,) = group["differences"]
    assert difference["p"] == pytest.approx(0.0008, abs=5e-5)


def test_triattn_seeds_of_checkpoints_without_seeds_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path))
    assert main(["seeds", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["seeds"]) == 0
    assert "several seeds" in capsys.readouterr().out


def test_wilson_interval_by_its_formula():
    z, n, p = 1.959964, 100, 0.44
    centre, half = (p + z**2 / (2 * n)), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    expected = [(centre + sign * half) / (1 + z**2 / n) for sign in (-1, 1)]
    assert wilson_interval(44, 100) == pytest.approx(expected, abs=1e-6)
    assert np.isnan(wilson_interval(0, 0)).all()
