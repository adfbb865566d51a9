"""The cube taken apart: against loops and least squares, on cubes whose parts are known, and on what is masked."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from tests.oracles import anova as oracle
from triattn_core.analysis.maps import anova
from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.information import mutual_information
from triattn_core.trace.site import Site

HEADS, N, I, J = 2, 3, 5, 7
DRAW = np.random.default_rng(3)


def cube(*sizes: int) -> np.ndarray:
    return DRAW.normal(1, 2, sizes or (HEADS, N, I, J))


def softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max((-2, -1), keepdims=True))
    return exponentials / exponentials.sum((-2, -1), keepdims=True)


def site(values: np.ndarray, quantity: str) -> xr.DataArray:
    return xr.DataArray(values, dims=("head", "query", "key", "context"), attrs={"quantity": quantity})


def test_each_part_is_the_mean_less_all_parts_below():
    given = cube()
    parts = anova.decompose(given)
    for head in range(HEADS):
        slow = oracle.parts(given[head])
        for name in anova.TERMS:
            np.testing.assert_allclose(parts[name][head], slow[name], atol=1e-12)


def test_parts_sum_to_the_whole():
    given = cube()
    parts = anova.decompose(given)
    np.testing.assert_allclose(sum(parts.values()), given - given.mean((1, 2, 3), keepdims=True), atol=1e-12)
    squares = sum((part**2).sum((1, 2, 3)) for part in parts.values())
    whole = ((given - given.mean((1, 2, 3), keepdims=True)) ** 2).sum((1, 2, 3))
    np.testing.assert_allclose(squares, whole, rtol=1e-12)
    shares = anova.variance_shares(given)
    np.testing.assert_allclose(sum(shares.values()), 1.0, rtol=1e-12)
    expected = (parts["three_way"] ** 2).sum((1, 2, 3)) / (whole - (parts["query"] ** 2).sum((1, 2, 3)))
    np.testing.assert_allclose(shares["three_way"], expected, rtol=1e-10)


def test_rounding_is_no_part_of_the_relevance_and_no_information():
    given = np.array(cube(HEADS, N, 1, 1) + cube(HEADS, 1, 1, J), np.float32)  # one key: context moves nothing
    weights = softmax(given)
    shares = anova.site_shares(Site(role="x"), given, weights)
    assert not shares[["key", "query_key", "key_context", "three_way", "redirected", "information"]].to_numpy().any()
    small = site(1e-10 * cube(HEADS, N, I, J) + np.arange(I)[:, None], "relevance")
    assert (
        not anova.three_way_residual(small).values.any()
        and anova.three_way_residual(1e4 * site(cube(), "relevance")).values.all()
    )


def test_what_softmax_cannot_see_changes_no_share():
    given = cube()
    shifted = given + 50 * cube(HEADS, N)[..., None, None]
    before, after = anova.variance_shares(given), anova.variance_shares(shifted)
    for name in anova.VISIBLE_TERMS:
        np.testing.assert_allclose(after[name], before[name], rtol=1e-8)


def test_known_parts_are_told_apart():
    """Drawn parts with mean 0 along each of their axes come back, and their shares with them."""
    key = cube(I)
    key -= key.mean()
    both = cube(I, J)
    both -= both.mean(0) + both.mean(1, keepdims=True) - both.mean()
    shares = anova.variance_shares((5 + key[:, None] + both + np.zeros((N, 1, 1)))[None])
    a, b = (key**2).sum() * J, (both**2).sum()
    assert shares["key"][0] == pytest.approx(a / (a + b)) and shares["key_context"][0] == pytest.approx(b / (a + b))
    assert max(shares[name][0] for name in anova.VISIBLE_TERMS if name not in ("key", "key_context")) < 1e-12


def test_a_masked_token_is_left_out():
    given, keep = cube(), np.ones((N, I, J), bool)
    keep[:, 2], keep[..., [0, 5]] = False, False
    smaller = np.delete(np.delete(given, 2, 2), [0, 5], 3)
    shares, expected = anova.variance_shares(given, keep), anova.variance_shares(smaller)
    for name in anova.VISIBLE_TERMS:
        np.testing.assert_allclose(shares[name], expected[name], rtol=1e-10)
    infinite = np.where(keep, given, -np.inf)  # as a mask before the softmax leaves it
    np.testing.assert_allclose(anova.variance_shares(infinite)["three_way"], expected["three_way"], rtol=1e-10)


def test_uneven_cells_are_sequential_least_squares():
    given, keep = cube(), DRAW.random((N, I, J)) < 0.7
    shares = anova.variance_shares(given, keep)
    np.testing.assert_allclose(sum(shares.values()), 1.0, atol=1e-12)
    for head in range(HEADS):
        slow = oracle.added(given[head], keep)
        whole = sum(slow.values()) - slow["query"]
        for name in anova.VISIBLE_TERMS:
            assert shares[name][head] == pytest.approx(slow[name] / whole, abs=1e-6)


def test_the_same_score_everywhere_has_no_share():
    assert all((share == 0).all() for share in anova.variance_shares(np.full((HEADS, N, I, J), 2.5)).values())


def test_information_is_that_of_the_loops():
    weights = softmax(cube())
    weights[1, 2] = 0  # a query with nothing to attend to
    weights[0, 1, 3] = 0
    bits = mutual_information(weights)
    assert bits.shape == (HEADS, N)
    for head in range(HEADS):
        np.testing.assert_allclose(bits[head], [oracle.information(rows) for rows in weights[head]], atol=1e-12)


def test_information_of_known_weights():
    """0 of a product of marginals; log2 of the keys where each context token belongs to one key."""
    apart = softmax(cube(1, I, 1)) * softmax(cube(1, 1, J))
    assert mutual_information(apart / apart.sum()) == pytest.approx(0, abs=1e-12)
    assert mutual_information(np.eye(I)[None] / I) == pytest.approx(np.log2(I))


def test_a_table_of_a_trace_and_the_map():
    relevance = cube()
    relevance[..., 4] = 99.0  # a context token that is masked: its scores mean nothing
    weights = softmax(np.where(np.arange(J) == 4, -np.inf, relevance))
    given = {"relevance": site(relevance, "relevance"), "weight": site(weights, "weight")}
    sites = {f"layer.0/a_over_b/{name}": one for name, one in given.items()}
    shares = anova.share_table(AttentionTrace(sites, {}))
    expected = anova.variance_shares(np.delete(relevance, 4, 3))
    np.testing.assert_allclose(shares["three_way"], expected["three_way"], rtol=1e-9)
    np.testing.assert_allclose(shares["redirected"], expected["key_context"] + expected["three_way"], rtol=1e-9)
    np.testing.assert_allclose(shares["among_keys"], expected["key"] + expected["query_key"], rtol=1e-9)
    np.testing.assert_allclose(shares["information"], mutual_information(weights).mean(1), rtol=1e-12)
    assert shares["site"].unique() == ["layer.0/a_over_b"] and list(shares["head"]) == list(range(HEADS))
    residual = anova.three_way_residual(*sites.values())
    assert residual.attrs == {"quantity": "contribution"} and (residual.values[..., 4] == 0).all()
    slow = oracle.parts(np.delete(relevance[0], 4, 2))["three_way"]
    np.testing.assert_allclose(np.delete(residual.values[0], 4, 2), slow, atol=1e-11)


def test_a_key_whose_weights_underflow_is_not_masked():
    """Scores 200 below the others: no weight in float32, yet part of the relevance; a masked key is none."""
    relevance = np.float32(cube())
    relevance[:, :, 2] -= 200.0
    relevance[:, :, 4], relevance[..., 5] = 77.0, 99.0
    masked = (np.arange(I)[:, None] == 4) | (np.arange(J) == 5)
    weights = softmax(np.where(masked, -np.inf, relevance)).astype(np.float32)
    assert not weights[:, :, [2, 4]].any()
    given = site(relevance, "relevance"), site(weights, "weight")
    shares = anova.share_table(AttentionTrace(dict(zip(("layer.0/relevance", "layer.0/weight"), given)), {}))
    expected = anova.variance_shares(np.delete(np.delete(relevance, 4, 2), 5, 3))
    np.testing.assert_allclose(shares["redirected"], expected["key_context"] + expected["three_way"], rtol=1e-9)
    residual = anova.three_way_residual(*given).values
    assert np.array_equal(residual != 0, np.broadcast_to(~masked, residual.shape))


def test_a_recorded_mask_is_the_mask_whatever_the_weights():
    """One key is masked; the scores of another are high where its weights, overridden, are zero."""
    relevance = cube()
    relevance[:, :, 4] = -np.inf
    weights = softmax(relevance)
    weights[:, :, 2] = 0.0
    weights /= weights.sum((-2, -1), keepdims=True)
    given = site(relevance, "relevance"), site(weights, "weight")
    keep = anova.kept_cells(*given)
    assert np.array_equal(keep[0], np.broadcast_to(np.arange(I)[:, None] != 4, (I, J)))
    shares = anova.share_table(AttentionTrace(dict(zip(("layer.0/relevance", "layer.0/weight"), given)), {}))
    expected = anova.variance_shares(np.delete(relevance, 4, 2))
    np.testing.assert_allclose(shares["three_way"], expected["three_way"], rtol=1e-9)


def test_two_way_sites_are_refused():
    flat = xr.DataArray(cube(HEADS, N, I), dims=("head", "query", "key"), attrs={"quantity": "relevance"})
    with pytest.raises(TraceError, match="only Tri-Attention with context leaves one"):
        anova.share_table(AttentionTrace({"layer.0/a_over_b/relevance": flat}, {}))
    with pytest.raises(TraceError, match="a relevance over query, key and context is needed, not one without context"):
        anova.three_way_residual(flat)
    with pytest.raises(TraceError, match="not weight"):
        anova.three_way_residual(site(cube(), "weight"))
