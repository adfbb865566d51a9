from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

from tests.oracles import compare as oracle
from triattn_core.analysis.maps import compare
from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace

HEADS, QUERIES, KEYS, CONTEXTS = 2, 3, 5, 7


@pytest.fixture(autouse=True)
def _no_silent_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def scores(*sizes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, sizes)


def site(values: np.ndarray, quantity: str, words: str = "w") -> xr.DataArray:
    dims = ("head", "query", "key", "context")[: values.ndim]
    coords = {f"{a}_token": (a, [f"{words}{a[0]}{i}" for i in range(n)]) for a, n in zip(dims[1:], values.shape[1:])}
    over = "key,context" if values.ndim == 4 else "key"
    attrs = {"quantity": quantity} | ({"sums_over": over} if quantity == "weight" else {})
    return xr.DataArray(values, dims=dims, coords=coords, attrs=attrs)


def cube() -> tuple[np.ndarray, np.ndarray]:
    """Scores and their joint softmax over key × context."""
    raw = scores(HEADS, QUERIES, KEYS, CONTEXTS)
    weights = np.exp(raw - raw.max(axis=(2, 3), keepdims=True))
    return raw, weights / weights.sum(axis=(2, 3), keepdims=True)


def rows(values: list) -> xr.DataArray:
    return xr.DataArray(np.array(values, dtype=float), dims=("query", "key"), attrs={"quantity": "weight"})


def test_weights_are_summed_over_context():
    _, weights = cube()
    for head in range(HEADS):
        weight_map = compare.two_way_map(site(weights, "weight"), head)
        np.testing.assert_allclose(weight_map.values, oracle.marginal(weights[head]), rtol=1e-12)
    assert weight_map.dims == ("query", "key") and weight_map.attrs == {"quantity": "weight", "sums_over": "key"}
    assert list(weight_map["key_token"].values) == [f"wk{i}" for i in range(KEYS)]


def test_mean_of_heads_keeps_rows_that_sum_to_one():
    _, weights = cube()
    weight_map = compare.two_way_map(site(weights, "weight"))
    np.testing.assert_allclose(weight_map.values, np.mean([oracle.marginal(w) for w in weights], axis=0), rtol=1e-12)
    np.testing.assert_allclose(weight_map.sum("key"), 1.0, rtol=1e-12)


def test_relevance_is_joined_by_log_sum_exp_then_centred():
    raw, _ = cube()
    for head in range(HEADS):
        expected = oracle.centred(oracle.joined(raw[head]))
        np.testing.assert_allclose(
            compare.two_way_map(site(raw, "relevance"), head).values, expected, rtol=1e-10, atol=1e-10
        )


def test_softmax_of_the_relevance_map_is_the_weight_map():
    raw, weights = cube()
    relevance = compare.two_way_map(site(raw, "relevance"), 1).values
    softmax_rows = [oracle.softmax(list(row)) for row in relevance]
    np.testing.assert_allclose(softmax_rows, compare.two_way_map(site(weights, "weight"), 1).values, rtol=1e-10)


def test_mean_relevance_is_not_log_mean_weight():
    """Why every number in bits is taken from weights."""
    raw, weights = cube()
    softmax_rows = [oracle.softmax(list(row)) for row in compare.two_way_map(site(raw, "relevance")).values]
    assert np.abs(np.array(softmax_rows) - compare.two_way_map(site(weights, "weight")).values).max() > 1e-3


def test_a_site_without_context_or_heads_passes_through():
    weights = cube()[1].sum(axis=3)
    np.testing.assert_allclose(compare.two_way_map(site(weights, "weight"), 0).values, weights[0])
    plain = site(weights, "weight").isel(head=1)
    np.testing.assert_allclose(compare.two_way_map(plain, 0).values, weights[1])


def test_extreme_and_masked_scores_stay_finite_where_they_can():
    raw = scores(HEADS, QUERIES, KEYS, CONTEXTS) * 1000
    raw[:, 0, 2] = -np.inf
    raw[:, 1] = -np.inf
    relevance_map = compare.two_way_map(site(raw, "relevance"), 0).values
    np.testing.assert_allclose(relevance_map, oracle.centred(oracle.joined(raw[0])), rtol=1e-10)
    assert not np.isnan(relevance_map).any() and (relevance_map[1] == 0).all() and np.isneginf(relevance_map[0, 2])


@pytest.mark.parametrize("seed", range(3))
def test_entropy_divergence_and_rank_agree_with_the_oracle(seed):
    p = np.random.default_rng(seed).dirichlet(np.full(KEYS, 0.3), QUERIES)
    q = np.random.default_rng(seed + 90).dirichlet(np.full(KEYS, 2.0), QUERIES)
    p[0, :2] = 0.0
    p[1, 3] = p[1, 4]
    left, right = rows(p), rows(q)
    np.testing.assert_allclose(compare.entropy(left), [oracle.entropy(list(r)) for r in p], rtol=1e-12)
    expected = [oracle.jensen_shannon(list(a), list(b)) for a, b in zip(p, q)]
    np.testing.assert_allclose(compare.jensen_shannon(left, right), expected, rtol=1e-12)
    np.testing.assert_array_equal(compare.rank(left), [oracle.rank(list(r)) for r in p])


def test_known_values():
    uniform, sharp, other = rows([[0.25] * 4]), rows([[0, 0, 1, 0]]), rows([[1, 0, 0, 0]])
    assert compare.entropy(uniform) == 2 and compare.entropy(sharp) == 0
    assert compare.jensen_shannon(sharp, other) == 1 and compare.jensen_shannon(sharp, sharp) == 0
    assert compare.rank(uniform).tolist() == [[1, 1, 1, 1]] and compare.rank(sharp).tolist() == [[2, 2, 1, 2]]


def test_divergence_of_nearly_equal_rows_keeps_its_digits():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    q = p + np.array([1e-7, -1e-7, 2e-7, -2e-7])
    second_order = ((p - q) ** 2 / (p + q)).sum() / (4 * np.log(2))
    assert compare.jensen_shannon(rows([p]), rows([q]))[0] == pytest.approx(second_order, rel=1e-3)


def test_an_empty_row_gives_zeros():
    empty, even = rows([[0, 0, 0]]), rows([[1 / 3] * 3])
    assert compare.entropy(empty).tolist() == [0.0]
    assert compare.jensen_shannon(empty, even).tolist() == [0.0]
    assert compare.rank(empty).tolist() == [[0, 0, 0]]


def test_difference_is_signed_and_zero_where_both_are_masked():
    left = rows([[0.5, -np.inf, 2.0]])
    right = rows([[0.75, -np.inf, 1.0]])
    assert compare.difference(left, right).values.tolist() == [[-0.25, 0.0, 1.0]]


def test_other_tokens_are_refused_in_one_line():
    weights = cube()[1]
    one, two = compare.two_way_map(site(weights, "weight")), compare.two_way_map(site(weights, "weight", words="x"))
    for call in (compare.difference, compare.jensen_shannon):
        with pytest.raises(TraceError, match="share a tokenizer"):
            call(one, two)
    with pytest.raises(TraceError, match="bi-one and tri-two cut"):
        compare.require_same_tokens([one, one, two], ["bi-one", "cbi", "tri-two"])
    short = compare.two_way_map(site(weights[:, :, :4], "weight"))
    with pytest.raises(TraceError, match=r"key: 5 and 4"):
        compare.require_same_tokens([one, short])


def test_what_makes_no_sense_is_refused():
    raw, weights = cube()
    with pytest.raises(TraceError, match="outside 0…1"):
        compare.two_way_map(site(weights, "weight"), 2)
    with pytest.raises(TraceError, match="no key"):
        compare.two_way_map(site(weights, "weight").isel(key=0), 0)
    with pytest.raises(TraceError, match="gate"):
        compare.two_way_map(site(weights, "gate"), 0)
    with pytest.raises(TraceError, match="cannot be subtracted"):
        compare.difference(compare.two_way_map(site(weights, "weight")), compare.two_way_map(site(raw, "relevance")))


def test_depth():
    weights = site(cube()[1], "weight")
    trace = AttentionTrace({"layer.0/a_over_b/weight": weights, "layer.2/a_over_b/weight": weights}, {})
    assert compare.layer_count(trace) == 3
    assert compare.layer_count(AttentionTrace({"layer.1/a_over_b/weight": weights}, {}, {"layers": 5})) == 5


@pytest.mark.parametrize("seed", range(3))
def test_overlap_agrees_with_the_oracle(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(KEYS, 0.6), QUERIES), rng.dirichlet(np.full(KEYS, 0.6), QUERIES)
    p[0, 1] = p[0, 3] = p[0, 4]
    for k in (1, 2, 3):
        expected = [oracle.overlap(list(a), list(b), k) for a, b in zip(p, q)]
        np.testing.assert_array_equal(compare.overlap(rows(p), rows(q), k), expected)


def test_overlap_of_equal_and_of_strange_rows():
    left, right = rows([[0.5, 0.3, 0.2, 0, 0], [0, 0, 0, 0, 0]]), rows([[0, 0, 0, 0.4, 0.6], [0.2] * 5])
    np.testing.assert_array_equal(compare.overlap(left, left, 3), [3, np.nan])
    np.testing.assert_array_equal(compare.overlap(left, right, 2), [0, np.nan])


def test_seeds_lie_as_far_apart_as_the_farthest_two():
    maps = [np.random.default_rng(seed).dirichlet(np.ones(KEYS), QUERIES) for seed in range(3)]
    spread = compare.seed_spread([rows(weight_map) for weight_map in maps])
    for n in range(QUERIES):
        for i in range(KEYS):
            assert spread[n, i] == pytest.approx(oracle.between_seeds(maps, n, i), rel=1e-12)
    other = [compare.difference(rows(weight_map), rows(0.5 * weight_map)) for weight_map in maps]
    both = compare.seed_spread([rows(weight_map) for weight_map in maps[:2]], other)
    first, second = (compare.seed_spread(some) for some in ([rows(weight_map) for weight_map in maps[:2]], other))
    np.testing.assert_array_equal(both, np.where(first > second, first, second))
    assert (first > second).any() and (second > first).any()
    masked = np.where(np.arange(KEYS) == 2, -np.inf, maps[0])
    assert (compare.seed_spread([rows(masked), rows(masked)]) == 0).all()


def test_what_is_not_there_stays_so():
    left = rows([[0.5, 0.5, np.nan], [np.nan] * 3])
    right = rows([[0.5, np.nan, 0.5], [0.2, np.nan, 0.8]])
    np.testing.assert_array_equal(compare.difference(left, right), [[0, np.nan, np.nan], [np.nan] * 3])
    np.testing.assert_array_equal(compare.entropy(left), [1, np.nan])
    np.testing.assert_array_equal(compare.jensen_shannon(left, right), [0.5, np.nan])
    assert compare.rank(left).tolist() == [[1, 1, 0], [0, 0, 0]]
