"""Distribution: over which axes weights are shares, in every measure and sentence; against plain loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.support.figure_arrays import sent_array
from triattn_core.analysis.maps import anova, compare, head_measures, head_profiles, trace_context
from triattn_core.errors import TraceError
from triattn_core.scenes import cube as cube_scene
from triattn_core.scenes.trace_sites import site_choice
from triattn_core.sources.explanation import Explanation
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.from_array import trace_of
from triattn_core.trace.site import Site
from triattn_core.trace.sites import two_way_weights
from triattn_core.trace.text_units import find_sinks, turn_shares
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import cube, fitting_views
from triattn_core.views.attention_maps.trace_maps import trace_map
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest

HEADS, N, I, J = 2, 3, 4, 5
SITE, SCORES = Site(role="attention", quantity="weight"), Site(role="attention", quantity="relevance")
WORDS = {"query": list("abc"), "key": list("defg"), "context": list("hijkl")}


def scores() -> np.ndarray:
    return np.random.default_rng(11).normal(size=(HEADS, N, I, J)) * 2


def softmax(values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    powers = np.exp(values - values.max(axes, keepdims=True))
    return powers / powers.sum(axes, keepdims=True)


def triangle() -> AttentionTrace:
    """A cube with scores whose softmax runs over keys alone: the query is a pair."""
    axes = ("head", "query", "key", "context")
    return trace_of(scores(), axes=axes, quantity="relevance", sums_over=["key"], tokens=WORDS)


def shown(quantity: str = "weight", head: int = 0) -> Distribution:
    return Distribution(triangle(), Choice(SITE.with_quantity(quantity), index=(("head", head),)))


@pytest.mark.parametrize("quantity", ["weight", "relevance"])
def test_a_trace_says_over_which_axes(quantity):
    one = shown(quantity)
    assert one.axes == ("key",) and one.size == I and one.count == N * J
    assert one.mass == 1 and one.empty == 0 and one.normalised
    cubes = trace_of(softmax(scores(), (2, 3)), axes=("head", "query", "key", "context"))
    both = Distribution(cubes, Choice(SITE, index=(("head", 0),)))
    assert both.axes == ("key", "context") and both.size == I * J and both.count == N


def test_the_mass_is_shared_by_all_pairs():
    weights, rows = softmax(scores(), (2,))[0], strongest(shown())
    assert len(rows) == N * I * J and rows["share"].sum() == pytest.approx(1)
    for row in rows.itertuples():
        weight = weights[row.query_at, row.key_at, row.context_at]
        assert row.weight == pytest.approx(weight, rel=1e-6) and row.share == pytest.approx(weight / (N * J), rel=1e-6)
    facts = cell.numbers_of(shown(), {"query": 1, "key": 2, "context": 3})
    column = weights[1, :, 3]
    assert facts["of"] == I and facts["rank"] == 1 + (column > column[2]).sum()
    assert facts["against"] == pytest.approx(column[2] * I, rel=1e-6)
    raw = scores()[0, 1, :, 3]
    assert facts["relevance"] == pytest.approx(raw[2] - raw.mean(), abs=1e-5)


def test_the_sentences_name_the_axes():
    assert cell.axis_check(shown()) == "Axis check: weights sum to 1.000000 over key, for each query and context."
    assert cell.axis_check(shown("relevance")).startswith("Axis check: the softmax of relevance over key repeats")
    assert "within a context" in cell.query_matters(shown())
    read = TokenGrouping.of(context="words").trace(triangle())
    assert "points" in fitting_views(shown()) and read.sum_axes(SITE) == ["key"]


def test_the_explorer_draws_means_over_an_axis_that_is_not_shared_out():
    for quantity in ("weight", "relevance"):
        payload = cube.figure(shown(quantity)).payload
        arrays = payload["panels"][0]["arrays"]
        assert sent_array(payload, 0, "of") == I and sent_array(payload, 0, "even") == pytest.approx(1 / I)
        assert "sum over context" in arrays and "sum over key" not in arrays
        assert payload["mark"] == f"even 1/{I}" and sent_array(payload, 0, "rows") == N * J


@pytest.mark.parametrize("head", range(HEADS))
def test_a_map_of_two_axes_is_the_mean_of_its_distributions(head):
    trace, weights, expected = triangle(), softmax(scores(), (2,)), np.zeros((N, I))
    for n in range(N):
        for i in range(I):
            expected[n, i] = sum(weights[head, n, i, j] for j in range(J)) / J
    np.testing.assert_allclose(two_way_weights(trace, SITE)[head], expected, rtol=1e-5)
    np.testing.assert_allclose(compare.two_way_map(trace.site(SITE), head), expected, rtol=1e-5)
    drawn = trace_map(trace, SITE, head)
    np.testing.assert_allclose(drawn.weights, expected, rtol=1e-5)
    assert drawn.note == "mean over context"
    joined = compare.two_way_map(trace.site(SCORES), head, sum_axes=trace.sum_axes(SCORES)).values
    logs = np.log(expected)
    np.testing.assert_allclose(joined, logs - logs.mean(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(softmax(joined, (1,)), expected, rtol=1e-5)


def test_what_softmax_does_not_see_has_no_share():
    """A function of query and context moves no weight where each pair has its own softmax."""
    moved = scores() + np.random.default_rng(3).normal(size=(HEADS, N, 1, J)) * 5
    shares, expected = (
        anova.variance_shares(moved, sum_axes=("key",)),
        anova.variance_shares(scores() - scores().mean(2, keepdims=True)),
    )
    for name in anova.VISIBLE_TERMS:
        np.testing.assert_allclose(shares[name], expected[name], atol=1e-9)
    assert not shares["context"].any() and not shares["query_context"].any()
    table = trace_context.context_table(triangle())  # by its scores, and by the logarithm of its weights
    alone = trace_context.context_table(AttentionTrace({SITE: triangle().site(SITE)}, {}))
    for name in (*anova.VISIBLE_TERMS, "redirected"):
        np.testing.assert_allclose(table[name], alone[name], atol=1e-4)
        np.testing.assert_allclose(
            table[name], expected.get(name, expected["key_context"] + expected["three_way"]), atol=1e-4
        )


def test_measures_of_heads_take_each_pair_as_often():
    trace, weights = triangle(), softmax(scores(), (2,)).mean(3)
    table = head_measures.head_table(trace)
    entropy = -(weights * np.log2(weights)).sum(2).mean(1)
    np.testing.assert_allclose(table["entropy"], entropy, rtol=1e-5)
    profiles = head_profiles.profile_table(trace)
    np.testing.assert_allclose(np.stack(profiles["to_key"]), weights.mean(1), rtol=1e-5)
    assert profiles["to_context"].isna().all()
    assert set(find_sinks(trace, SITE, 1.5)) == {"key"}
    with pytest.raises(TraceError, match="no distribution runs over context"):
        turn_shares(trace, Choice(SITE, index=(("head", 0),)))


def test_folded_contexts_are_averaged_and_folded_keys_summed():
    trace, weights = triangle(), softmax(scores(), (2,))
    folded = trace.fold("context", lambda array: list("xxyyy")).fold("key", lambda array: list("uuvv"))
    expected = np.zeros((HEADS, N, 2, 2))
    for k, keys in enumerate(((0, 1), (2, 3))):
        for c, contexts in enumerate(((0, 1), (2, 3, 4))):
            expected[:, :, k, c] = sum(weights[:, :, i, j] for i in keys for j in contexts) / len(contexts)
    np.testing.assert_allclose(folded.site(SITE), expected, rtol=1e-5)
    one = Distribution(folded, Choice(SITE, index=(("head", 0),)))
    assert one.count == N * J and strongest(one)["share"].sum() == pytest.approx(1)
    np.testing.assert_allclose(two_way_weights(folded, SITE)[0, :, 0], weights[0, :, :2].sum(1).mean(-1), rtol=1e-5)


def test_a_choice_is_looked_up_once(monkeypatch):
    picks: Counter = Counter()
    pick = AttentionTrace.pick

    def counted(self, choice):
        picks[choice.site.quantity] += 1
        return pick(self, choice)

    monkeypatch.setattr(AttentionTrace, "pick", counted)
    scene = cube_scene.build([Explanation.of_trace(triangle())], cube_scene.Settings(site=SITE, head=1))
    assert len(scene.table) == N * I * J and "weight" in scene.figures["cube"].payload["panels"][0]["arrays"]
    assert scene.shown.choice == site_choice(scene.trace, SITE, 1)
    assert picks == {"weight": 1, "relevance": 1}
