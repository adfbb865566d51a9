"""Attribution: closed forms on linear models, a quadratic one, and attention's marginals and rollout by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import xarray as xr

from triattn_core.analysis.attribution import estimators
from triattn_core.errors import InputError, TraceError
from triattn_core.trace import AttentionTrace

SIZES = {"query": 3, "key": 5, "context": 7}
H = 11


def drawn(seed: int) -> dict[str, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return {role: torch.randn(size, H, generator=draw, dtype=torch.float64) for role, size in SIZES.items()}


VECTORS, BASELINE, W = drawn(0), drawn(1), drawn(2)


def linear(given):
    return 4 + sum((one * W[role]).sum((1, 2)) for role, one in given.items())


def closed(left, right) -> dict[str, np.ndarray]:
    return {role: (left[role] * right[role]).sum(-1).numpy() for role in SIZES}


def same(actual, expected):
    assert list(actual) == list(SIZES)
    for role in SIZES:
        np.testing.assert_allclose(actual[role], expected[role], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 4, 64])
def test_a_linear_model_has_closed_forms(rows):
    away = {role: VECTORS[role] - BASELINE[role] for role in SIZES}
    attributions, gap = estimators.integrated_gradients(linear, VECTORS, BASELINE, steps=6, rows=rows)
    same(attributions, closed(away, W))
    assert abs(gap) < 1e-10
    same(estimators.gradient_times_input(linear, VECTORS), closed(VECTORS, W))
    same(estimators.occlusion(linear, VECTORS, BASELINE, rows=rows), closed(away, W))


def test_two_tokens_that_only_work_together_share_what_they_give():
    """F = (u·x)(v·y) from 0: the integral of a derivative that grows with a gives each half of F, occlusion all."""
    u, v = W["query"][0], W["key"][0]
    nothing = {role: torch.zeros_like(vector) for role, vector in VECTORS.items()}

    def product(given):
        return (given["query"][:, 1] @ u) * (given["key"][:, 2] @ v)

    whole = float((VECTORS["query"][1] @ u) * (VECTORS["key"][2] @ v))
    attributions, gap = estimators.integrated_gradients(product, VECTORS, nothing, steps=2)
    assert attributions["query"][1] == pytest.approx(whole / 2) and attributions["key"][2] == pytest.approx(whole / 2)
    assert attributions["context"].tolist() == [0] * 7 and attributions["query"][0] == 0 and abs(gap) < 1e-9
    each = estimators.occlusion(product, VECTORS, nothing)
    assert each["query"][1] == pytest.approx(whole) and each["key"][2] == pytest.approx(whole)
    assert estimators.gradient_times_input(product, VECTORS)["key"][2] == pytest.approx(whole)


def test_the_gap_says_how_well_the_mean_was_taken():
    def steep(given):
        return torch.tanh(8 * sum(one.mean((1, 2)) for one in given.values()))

    gaps = [abs(estimators.integrated_gradients(steep, VECTORS, BASELINE, steps)[1]) for steps in (1, 4, 32)]
    assert gaps[0] > gaps[1] > 1e-9 > gaps[2]
    attributions, gap = estimators.integrated_gradients(steep, VECTORS, BASELINE, 1)
    with torch.no_grad():
        whole = steep({role: vector[None] for role, vector in VECTORS.items()})
        whole = float(whole - steep({role: vector[None] for role, vector in BASELINE.items()}))
    assert gap == pytest.approx(sum(attribution.sum() for attribution in attributions.values()) - whole)


def test_steps_have_bounds():
    for steps in (0, estimators.MAX_STEPS + 1):
        with pytest.raises(InputError, match="steps: integrated gradients take 1 to"):
            estimators.integrated_gradients(linear, VECTORS, BASELINE, steps)


# --- attention ---

HEADS, N, I, J, LAYERS = 2, 3, 5, 7, 2


def trace(cube: bool = True) -> AttentionTrace:
    draw, sites = np.random.default_rng(4), {}
    for layer in range(LAYERS):
        for direction, n, i in (("a_over_b", N, I), ("b_over_a", I, N)):
            values = draw.random((HEADS, n, i, J) if cube else (HEADS, n, i))
            values /= values.sum(tuple(range(2, values.ndim)), keepdims=True)
            dims = ("head", "query", "key", "context")[: values.ndim]
            attrs = {"quantity": "weight", "sums_over": "key,context" if cube else "key"}
            sites[f"layer.{layer}/{direction}/weight"] = xr.DataArray(values, dims=dims, attrs=attrs)
    return AttentionTrace(sites, {}, {"layers": LAYERS})


def test_each_direction_gives_one_to_its_keys_and_to_the_context():
    given = trace()
    shares = estimators.attention_mass(given)
    for role, size, direction in (("query", N, "b_over_a"), ("key", I, "a_over_b")):
        slow = np.zeros(size)
        for layer in range(LAYERS):
            site = given.sites[f"layer.{layer}/{direction}/weight"].values
            for h, n, i, j in np.ndindex(site.shape):
                slow[i] += site[h, n, i, j] / (LAYERS * HEADS * site.shape[1])
        np.testing.assert_allclose(shares[role], slow)
        assert shares[role].sum() == pytest.approx(1)
    slow = np.mean([one.values.mean((0, 1)).sum(0) for one in given.sites.values()], 0)
    np.testing.assert_allclose(shares["context"], slow)
    assert "context" not in estimators.attention_mass(trace(cube=False))


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("cube", [True, False])
def test_rollout_is_the_sum_over_all_paths(cube, residual):
    """Path by path: from each token down the layers, staying or moving on, with the product of its shares."""
    given, slow = trace(cube), {}
    stay = 0.5 if residual else 0.0

    def follow(node, layer, share):
        side, token = node
        if layer < 0 or side == "c":
            slow[node] = slow.get(node, 0) + share
            return
        if stay:
            follow(node, layer - 1, share * stay)
        site = given.sites[f"layer.{layer}/{'a_over_b' if side == 'a' else 'b_over_a'}/weight"].values.mean(0)[token]
        other = "b" if side == "a" else "a"
        for at in np.ndindex(site.shape):
            moved = share * (1 - stay) * site[at]
            follow((other, at[0]), layer - 1, moved / (2 if cube else 1))
            if cube:
                follow(("c", at[1]), layer - 1, moved / 2)

    for side, size in (("a", N), ("b", I)):
        for token in range(size):
            follow((side, token), LAYERS - 1, 0.5 / size)
    shares = estimators.rollout(given, residual)
    for role, side in (("query", "a"), ("key", "b"), ("context", "c")):
        for token, share in enumerate(shares.get(role, [])):
            assert share == pytest.approx(slow.get((side, token), 0), abs=1e-12)
    assert sum(one.sum() for one in shares.values()) == pytest.approx(1)


def test_a_trace_without_attention_is_refused():
    for method in (estimators.attention_mass, estimators.rollout):
        with pytest.raises(TraceError, match="no attention layer"):
            method(AttentionTrace({}, {}))
