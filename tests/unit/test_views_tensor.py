"""The tensor in the cube explorer, and what stands behind a cell, against plain loops over a made-up trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles import features, tensorized
from tests.support.figure_arrays import sent_array
from tests.support.mtsa_traces import LAYER, MASKS, SIZE, N, make_trace
from triattn_core.analysis.maps.mtsa_tensor import head_tensor as compute
from triattn_core.errors import TraceError
from triattn_core.trace import Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.views import tensor
from triattn_core.views.attention_maps.terms import Profile, profile, terms
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest

WEIGHT, SCORE = (Choice(f"{LAYER}/tensor/{name}") for name in ("weight", "relevance"))
ORDER, OF = [3, 0, 4, 2, 1], [1, 2, 1, 0, 1]
FORWARD, WINDOW = 0, 2


@pytest.fixture(scope="module", params=[FORWARD, WINDOW], ids=["forward", "window"])
def head(request):
    return request.param


@pytest.fixture(scope="module")
def trace(head):
    return compute(make_trace(), LAYER, head)


def array(trace, name: str = "weight") -> np.ndarray:
    return trace.site(f"{LAYER}/tensor/{name}").values.astype(float)


def full(trace) -> int:
    """How many queries a mask leaves something: the others hold no mass."""
    return int((array(trace).sum(1) > 0).all(-1).sum())


def test_shares_of_all_cells_are_all_the_mass(trace, head):
    rows = strongest(Distribution(trace, WEIGHT))
    assert rows["share"].sum() == pytest.approx(1, abs=1e-6)
    for _, row in rows.iloc[:: len(rows) // 9].iterrows():
        at = {axis: int(row[f"{axis}_at"]) for axis in ("query", "key", "feature")}
        assert cell.numbers_of(Distribution(trace, WEIGHT), at)["share"] == pytest.approx(row["share"], abs=1e-9)


def test_a_masked_cell_has_no_rank_and_no_relevance(trace, head):
    scores = array(trace, "relevance")
    q, k, f = np.argwhere(np.isneginf(scores))[0] if np.isneginf(scores).any() else (None, None, None)
    if q is None:
        return
    facts = cell.numbers_of(Distribution(trace, WEIGHT), {"query": int(q), "key": int(k), "feature": int(f)})
    assert facts["weight"] == 0 and np.isnan([facts["rank"], facts["relevance"]]).all() and facts["raw"] == -np.inf


def test_the_sentence_says_by_what_the_strongest_are_so(trace, head):
    alt_text = tensor.figure(Distribution(trace, WEIGHT), ORDER, OF).payload["alt"]
    masked = bool(np.isneginf(array(trace, "relevance")).any())
    assert ("the strongest against an even share is" in alt_text) == masked


def test_features_stand_in_their_order_with_their_clusters(trace):
    payload = tensor.figure(Distribution(trace, WEIGHT), ORDER, OF).payload
    assert list(payload["axes"]) == ["query", "key", "feature"]
    axis = payload["axes"]["feature"]
    assert axis["position"] == ORDER and axis["label"] == [str(i + 1) for i in ORDER]
    assert axis["text"] == [f"cluster {OF[i] + 1}" for i in ORDER]
    assert axis["groups"]["cluster 3"] == {"short": "3", "long": "cluster 3"}
    weight = array(trace)[:, :, ORDER]
    np.testing.assert_allclose(sent_array(payload, 0, "weight"), weight, atol=1e-7)
    np.testing.assert_allclose(sent_array(payload, 0, "sum over feature"), weight.mean(-1), atol=1e-7)
    assert "sum over key" not in payload["panels"][0]["arrays"]
    assert sent_array(payload, 0, "rows") == full(trace) * SIZE


def test_masked_pairs_are_named_and_ranks_run_over_the_keys(trace, head):
    payload = tensor.figure(Distribution(trace, WEIGHT), ORDER, OF).payload
    out = np.isneginf(tensorized.mask(MASKS[head], N, False))
    np.testing.assert_array_equal(sent_array(payload, 0, "masked"), np.broadcast_to(out[..., None], (N, N, SIZE)))
    weight, ranks = array(trace)[:, :, ORDER], sent_array(payload, 0, "rank")
    for q, k, f in [(3, 1, 2), (5, 4, 0), (6, 5, 4)]:
        assert ranks[q, k, f] == 1 + sum(weight[q, i, f] > weight[q, k, f] for i in range(N))


def test_numbers_of_a_cell_are_those_of_its_row(trace, head):
    at = {"query": 4, "key": 3, "feature": 2}
    facts, weight = cell.numbers_of(Distribution(trace, WEIGHT), at), array(trace)[4, :, 2]
    left = int((~np.isneginf(tensorized.mask(MASKS[head], N, False)[4])).sum())
    scores = array(trace, "relevance")[4, :, 2]
    assert facts["weight"] == pytest.approx(weight[3]) and facts["of"] == left
    assert facts["against"] == pytest.approx(weight[3] * left)
    assert facts["share"] == pytest.approx(weight[3] / (full(trace) * SIZE))
    assert facts["rank"] == 1 + sum(weight > weight[3])
    assert facts["relevance"] == pytest.approx(scores[3] - scores[np.isfinite(scores)].mean(), abs=1e-5)


def test_the_strongest_are_so_against_an_even_share(trace, head):
    rows = strongest(Distribution(trace, WEIGHT), 5)
    left = (~np.isneginf(tensorized.mask(MASKS[head], N, False))).sum(1)
    lift = array(trace) * left[:, None, None]
    best = np.sort(lift.ravel())[::-1][:5]
    np.testing.assert_allclose([lift[q, k, f] for q, k, f in rows[["query_at", "key_at", "feature_at"]].values], best)
    assert list(tensor.figure(Distribution(trace, WEIGHT), ORDER, OF).cell) == list(
        rows[["query_at", "key_at", "feature_at"]].values[0]
    )


def test_rows_that_attend_to_nothing_are_counted_not_failed(trace, head):
    sentence = cell.axis_check(Distribution(trace, WEIGHT))
    assert sentence.startswith("Axis check: weights sum to 1.000000 over key, for each query and feature")
    assert (f"{SIZE} of {N * SIZE} rows are left nothing to attend to" in sentence) == (head == FORWARD)
    assert cell.axis_check(Distribution(trace, SCORE)).startswith(
        "Axis check: the softmax of relevance over key repeats"
    )
    bent = trace.site(WEIGHT.site) * 1.01
    broken = replace(trace, sites={**trace.sites, WEIGHT.site: bent.assign_attrs(trace.site(WEIGHT.site).attrs)})
    assert cell.axis_check(Distribution(broken, WEIGHT)).startswith("Axis check failed")


def test_an_empty_first_row_fails_no_check():
    trace = compute(make_trace(n=2), LAYER, FORWARD)
    sentence = cell.axis_check(Distribution(trace, WEIGHT))
    assert sentence.startswith("Axis check: weights sum to 1.0") and f"{SIZE} of {2 * SIZE} rows" in sentence


def test_one_token_says_that_there_is_nothing():
    trace = compute(make_trace(n=1), LAYER, FORWARD)
    payload = tensor.figure(Distribution(trace, WEIGHT), ORDER, OF).payload
    assert (
        payload["inspector"]["check"]
        == f"{SIZE} of {SIZE} rows are left nothing to attend to: their weights are zeros."
    )
    assert payload["axes"]["query"]["label"] == ["w0"]
    cell_terms = terms(trace, LAYER, (0, 0, 0))
    assert cell_terms.probability == 0 and np.isneginf(cell_terms.whole) and profile(trace, LAYER, (0, 0)).even == 0


def test_only_a_tensor_has_features():
    with pytest.raises(TraceError, match="no site"):
        tensor.figure(Distribution(make_trace(), WEIGHT), ORDER, OF)


@pytest.mark.parametrize("how", [{}, {"scale_t": "identity", "scale_s": "log_sigmoid"}], ids=str)
@pytest.mark.parametrize("at", [(5, 3, 1), (2, 0, 4), (3, 6, 0)])
def test_the_sum_behind_a_cell_against_the_oracle(how, at):
    whole = make_trace(**how)
    cell_terms = terms(compute(whole, LAYER, FORWARD), LAYER, at)
    R, S = (whole.site(f"{LAYER}/{kind}/relevance").values[0].astype(float) for kind in ("token2token", "source2token"))
    scales = str(whole.meta["scale_t"]), str(whole.meta["scale_s"])
    wanted = features.terms(R, S, tensorized.mask("forward", N, False), at, *scales)
    for name, value in cell_terms.parts.items():
        assert value == pytest.approx(wanted[name], abs=1e-5), name
    assert (cell_terms.score, cell_terms.whole) == pytest.approx((wanted["score"], wanted["whole"]), abs=1e-5)
    assert cell_terms.probability == pytest.approx(wanted["probability"], abs=1e-6)


def test_features_disagree_where_they_stand_on_the_other_side_of_an_even_share():
    pair_profile = Profile(np.array([0.5, 0.1, 0.3, 0.2, 0.26]), 0.25)
    assert pair_profile.above() == [0, 2, 4] and pair_profile.below() == [1, 3]
    assert pair_profile.mean == pytest.approx(0.272) and pair_profile.disagree() == [1, 3]
    assert Profile(pair_profile.weights, 0.28).disagree() == [0, 2]
    assert Profile(np.full(3, 0.5), 0.5).disagree() == []


def test_a_profile_is_what_each_feature_gives_the_pair(trace, head):
    pair_profile = profile(trace, LAYER, (4, 3))
    left = (~np.isneginf(tensorized.mask(MASKS[head], N, False))).sum(1)
    np.testing.assert_allclose(pair_profile.weights, array(trace)[4, 3])
    assert pair_profile.even == 1 / left[4] and profile(trace, LAYER, (3, 3)).even == 0
