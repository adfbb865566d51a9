"""What pages say of chance: the sentences of Intervene and Attribute, on numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pages.attribute import faithfulness
from triattn_core.inference.predictions import Prediction
from triattn_core.scenes import intervene_text
from triattn_core.views.charts import attribution, perturbation

DRAWN = np.arange(1.0, 31.0)  # 30 draws


def null(drawn: np.ndarray, original: float) -> str:
    """The sentence of draws none of which flips the answer."""
    answer, none = Prediction(("yes", "no"), (0.9, 0.1), 0), np.zeros(len(drawn), bool)
    return intervene_text.describe_null(intervene_text.Nulls("shuffled", "key", drawn, none, original, answer))


@pytest.mark.parametrize(
    ("original", "p", "says"),
    [
        (31.0, 2 / 31, "above 30 of the 30 draws, p = 0.065 (two-sided): not evidence enough"),
        (0.0, 2 / 31, "above 0 of the 30 draws"),
        (15.5, 1.0, "above 15 of the 30 draws, p = 1 (two-sided): not evidence enough"),
        (28.5, 6 / 31, "above 28 of the 30 draws, p = 0.19"),
    ],
)
def test_a_map_is_more_than_chance_only_where_its_rank_is_rare(original: float, p: float, says: str) -> None:
    assert intervene_text.chance(DRAWN, original) == pytest.approx(p)
    assert says in null(DRAWN, original)


@pytest.mark.parametrize(("flips", "ends"), [(True, "the answer flips."), (False, "the answer stays.")])
def test_of_one_replacement_it_says_what_becomes_of_the_answer(flips: bool, ends: str) -> None:
    answer, flip_mask = Prediction(("yes", "no"), (0.9, 0.1), 0), np.array([flips])
    nulls = intervene_text.Nulls("product of marginals", "key", np.array([1.5]), flip_mask, 2.0, answer)
    sentence = intervene_text.describe_null(nulls)
    assert sentence.startswith("With the product of marginals for attention (") and sentence.endswith(ends)
    assert "along" not in sentence and "against +2" in sentence


def test_draws_that_change_nothing_but_rounding_are_no_evidence() -> None:
    """As where there is one key to shuffle."""
    sentence = null(np.full(40, 4.95 + 9.5e-7), 4.95)
    assert sentence.endswith("nothing changes: the log-odds of “yes” stay at +4.95 in all 40 draws.")


def test_a_hundred_draws_can_show_it() -> None:
    drawn = np.arange(1.0, 101.0)
    sentence = null(drawn, 101.0)
    assert "p = 0.02 (two-sided): the map is more than chance, by 50 in the mean." in sentence
    worse = null(drawn, 0.0)
    assert "above 0 of the 100 draws" in worse and "others serve this answer better, by 50 in the mean." in worse
    ten = null(drawn[:10], 11.0)
    assert "10 draws could show p = 0.18 at best" in ten


def test_what_leaves_the_band_is_said_with_how_often_chance_does() -> None:
    """Two methods, two measures: 4 comparisons, each beyond place 19.525 of 20 draws in 1.475 of 21: that is
    1 - (19.525/21)^4 = 25 %."""
    names = pd.MultiIndex.from_tuples([("a", 0), ("b", 0), ("random", 0)])
    areas = pd.DataFrame({"comprehensiveness": [0.5, 0.1, 0.1], "sufficiency": [0.2, 0.2, 0.2]}, names)
    band = pd.DataFrame({"low": [0.0, 0.1], "high": [0.4, 0.3]}, ["comprehensiveness", "sufficiency"])
    sentence = perturbation.describe("a", areas, band, 20)
    assert (
        "comprehensiveness +0.500, better than the random band" in sentence
        and "Better than the band here: a." in sentence
    )
    assert "By chance, one of 4 comparisons would be in 25 % of examples, if they were independent:" in sentence


def test_the_least_alike_and_the_most_alike_are_named() -> None:
    ranks = pd.DataFrame([[1, 0.9, 0.1], [0.9, 1, 0.3], [0.1, 0.3, 1]], index=list("abc"), columns=list("abc"))
    sentence = attribution.agreement(ranks, 26, 0.4651)
    assert "a and b rank the tokens most alike (0.90), a and c least (0.10)" in sentence
    assert "less than 0.47 is no evidence (5 %, for the most extreme of 3 correlations" in sentence


def test_what_blanked_words_leave_is_measured_not_supposed() -> None:
    """F(x) = 2, the attributions add up to 1.5, the gap is -0.25: F(x') = 2 - 1.5 - 0.25."""
    facts = dict(attribution.completeness(pd.Series([1.0, 0.5]), -0.25, 2.0))
    assert facts["with every word blanked"] == "+0.25" and facts["completeness gap"] == "0.25, 14 % of the difference"
    assert facts["difference of these"] == "+1.75"
    assert "do not trust" in attribution.completeness_warning(pd.Series([1.0, 0.5]), -0.25)
    assert attribution.completeness_warning(pd.Series([1.0, 0.5]), -0.1) == ""
    small = dict(attribution.completeness(pd.Series([-0.158]), -0.078, 1.0))  # as the opening example: nearly all
    assert small["completeness gap"] == "0.078, 98 % of the difference"


def test_few_rows_give_no_verdict() -> None:
    gains = pd.DataFrame({"rows": [3], "method": ["a"], "measure": ["sufficiency"], "gain_low": [1.0]})
    assert faithfulness.describe_gains(gains) == "3 rows: too few to tell any method from random; 8 at least."


def test_two_tokens_are_evidence_of_nothing() -> None:
    ranks = pd.DataFrame([[1, 1.0], [1.0, 1]], index=list("ab"), columns=list("ab"))
    assert "Over 2 tokens that is no evidence" in attribution.agreement(ranks, 2, 1.0)


def test_whatever_is_offered_there_is() -> None:
    from triattn_core.analysis import catalogue
    from triattn_core.analysis.attribution import methods
    from triattn_core.analysis.intervention import null_replacement

    assert list(catalogue.METHODS) == list(methods.METHODS)
    assert catalogue.REPLACEMENTS is null_replacement.REPLACEMENTS


def test_how_often_a_ranking_like_the_others_is_beyond_them() -> None:
    """Counted: one more even draw against the 97.5 % quantile of 20."""
    draws = np.random.default_rng(5).random((20_000, 21))
    counted = (draws[:, 0] > np.quantile(draws[:, 1:], 0.975, axis=1)).mean()
    assert perturbation.exceedance(20) == pytest.approx(counted, abs=0.006)


def test_the_bar_of_correlations_is_that_of_the_fewest_tokens_two_methods_share() -> None:
    from triattn_core.analysis.attribution.methods import Attributions

    nan = float("nan")
    rows = [("query", 0, 1.0, 3.0), ("query", 0, 2.0, 1.0), ("key", 0, 3.0, 2.0), ("context", 0, 5.0, nan)]
    table = pd.DataFrame([*rows, ("key", 1, 9.0, 9.0)], columns=["role", "special", "a", "b"])
    table["c"] = table["a"] ** 2
    assert Attributions(table, ("a", "c"), 0.0).compared_cells() == 4
    assert Attributions(table, ("a", "b", "c"), 0.0).compared_cells() == 3


def test_the_extremes_of_several_correlations_need_more_than_one_pair_would() -> None:
    """Drawn: how far the most extreme of the three correlations of three random rankings of 11 tokens goes."""
    from scipy.stats import spearmanr

    from triattn_core.analysis.attribution.methods import Attributions

    rng = np.random.default_rng(7)
    most = [np.abs(spearmanr(rng.random((11, 3))).statistic[np.triu_indices(3, 1)]).max() for _ in range(2000)]
    table = pd.DataFrame(rng.random((11, 3)), columns=list("abc")).assign(special=0, role="query")
    three, two = Attributions(table, ("a", "b", "c")), Attributions(table, ("a", "b"))
    assert three.critical_correlation() == pytest.approx(np.quantile(most, 0.95), abs=0.03)
    assert two.critical_correlation() == pytest.approx(0.602, abs=1e-3)  # t = 2.262 of 9 degrees of freedom
    assert Attributions(table[:2], ("a", "b")).critical_correlation() == 1
