"""The tensor of one head, from a trace: against the oracle, against the model's own output, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import xarray as xr

from tests.oracles import features, tensorized
from tests.support.mtsa_traces import LAYER, MASKS, SIZE, N, make_trace
from triattn_core.analysis.maps import mtsa_tensor as room
from triattn_core.analysis.maps.clusters import cluster_features
from triattn_core.analysis.maps.mtsa_tensor import head_tensor
from triattn_core.errors import InputError, TraceError


def by_loops(trace, head: int) -> np.ndarray:
    sites = [trace.site(f"{LAYER}/{kind}/relevance") for kind in ("token2token", "source2token")]
    R, S = (site.values[head].astype(float) for site in sites)
    M = tensorized.mask(MASKS[head], N, False)
    keep = np.ones(N, bool)
    return tensorized.weights(R, S, M, keep, str(trace.meta["scale_t"]), str(trace.meta["scale_s"]))


@pytest.mark.parametrize("how", [{}, {"scale_t": "identity"}, {"scale_s": "log_sigmoid"}], ids=str)
@pytest.mark.parametrize("head", range(len(MASKS)))
def test_the_tensor_is_that_of_the_equations(how, head):
    trace = make_trace(**how)
    head_trace = head_tensor(trace, LAYER, head)
    P = head_trace.site(f"{LAYER}/tensor/weight")
    assert P.dims == room.AXES and P.attrs == {"quantity": "weight", "sums_over": "key"}
    np.testing.assert_allclose(P.values, by_loops(trace, head), atol=1e-6)
    assert head_trace.meta["mask"] == MASKS[head] and list(P["key_token"].values) == [f"w{i}" for i in range(N)]


def test_relevance_is_the_sum_of_its_contributions():
    head_trace = head_tensor(make_trace(), LAYER, 1)
    parts = [head_trace.site(f"{LAYER}/tensor/{name}/contribution") for name in ("token2token", "source2token", "mask")]
    T = head_trace.site(f"{LAYER}/tensor/relevance")
    xr.testing.assert_allclose(sum(parts).transpose(*T.dims).drop_attrs(), T.drop_attrs())
    assert np.isneginf(T.values[N - 1]).all() and np.isfinite(T.values[0, 1]).all()  # backward: the last sees nothing
    assert (head_trace.site(f"{LAYER}/tensor/weight").values[N - 1] == 0).all()


def test_values_weighed_by_the_tensor_are_what_the_layer_gives():
    from triattn_core.attention.mtsa import Mtsa
    from triattn_core.attention.states import join_heads, split_heads
    from triattn_core.attention.tap import recording
    from triattn_core.trace import AttentionTrace

    torch.manual_seed(3)
    layer, x, keep = Mtsa(6, 3, SIZE, MASKS).eval(), torch.randn(1, N, 6), torch.ones(1, N, dtype=torch.bool)
    with recording() as record, torch.no_grad():
        out = layer(x, keep, LAYER)
    sites = {
        name: xr.DataArray(site.tensor[0].numpy(), dims=site.axes, attrs={"quantity": site.quantity, "sums_over": ""})
        for name, site in record.sites.items()
    }
    trace = AttentionTrace(sites, {}, make_trace().meta)
    P = torch.tensor(np.stack([head_tensor(trace, LAYER, h).site(f"{LAYER}/tensor/weight").values for h in range(3)]))
    v = split_heads(layer.value(x), 3)[0]
    with torch.no_grad():
        again = layer.out(join_heads(torch.einsum("hjil,hil->hjl", P, v)[None]))
    torch.testing.assert_close(again, out, atol=1e-5, rtol=1e-4)


def test_what_cannot_be_shown_is_one_line(monkeypatch):
    with pytest.raises(TraceError, match="no head 4: layer.0 has 3"):
        head_tensor(make_trace(), LAYER, 3)
    with pytest.raises(TraceError, match="not one of MTSA"):
        head_tensor(make_trace(masks=""), LAYER, 0)
    monkeypatch.setattr(room, "MAX_CELLS", N * N * SIZE - 1)
    with pytest.raises(InputError, match=f"{N} tokens has {N} × {N} × {SIZE} = {N * N * SIZE} cells"):
        head_tensor(make_trace(), LAYER, 0)


def test_one_token_under_a_strict_mask_has_nothing_to_attend_to():
    weights = head_tensor(make_trace(n=1), LAYER, 0).site(f"{LAYER}/tensor/weight")
    assert weights.shape == (1, 1, SIZE) and not weights.values.any()


def two_kinds() -> xr.DataArray:
    """Five features: 0, 2 and 3 look at the first key, 1 and 4 at the second."""
    P = np.zeros((2, 3, 5))
    for feature, at in enumerate((0, 1, 0, 0, 1)):
        P[:, at, feature] = 0.9 - 0.02 * feature
        P[:, 2, feature] = 0.1 + 0.02 * feature
    return xr.DataArray(P, dims=room.AXES)


def test_features_that_look_alike_stand_together():
    P = two_kinds()
    clusters = cluster_features(P, 2)
    assert {tuple(sorted(clusters.members(i))) for i in range(2)} == {(0, 2, 3), (1, 4)}
    assert sorted(clusters.order) == list(range(5)) and (np.diff(clusters.assignments[clusters.order]) >= 0).all()
    for i, members in enumerate(map(list, map(clusters.members, range(2)))):
        np.testing.assert_allclose(clusters.prototypes[i], features.prototype(P.values, members))
        both = np.concatenate([P.values, clusters.prototypes[i][..., None]], -1)
        far = {feature: features.hellinger(both, feature, 5) for feature in members}
        assert clusters.typical[i] == min(far, key=far.get)
    assert clusters.typical[int(clusters.assignments[0])] == 2 and 0.9 < clusters.explained_share < 1


def test_the_spread_between_clusters_against_loops():
    P = two_kinds().values
    clusters, points = cluster_features(two_kinds(), 3), np.sqrt(P.reshape(6, 5)).T
    mean = points.mean(0)
    whole = sum(sum((p - mean) ** 2) for p in points)
    within = 0.0
    for i in range(3):
        members = [points[f] for f in clusters.members(i)]
        centre = sum(members) / len(members)
        within += sum(sum((p - centre) ** 2) for p in members)
    assert (
        clusters.explained_share == pytest.approx(1 - within / whole)
        and clusters.explained_share > cluster_features(two_kinds(), 2).explained_share
    )


def test_features_that_are_all_alike_are_one_cluster():
    same = xr.DataArray(np.full((2, 2, 3), 0.5), dims=room.AXES)
    clusters = cluster_features(same, 2)
    assert (
        len(clusters.prototypes) == 1
        and clusters.explained_share == 1
        and len(cluster_features(same[..., :1], 4).order) == 1
    )
