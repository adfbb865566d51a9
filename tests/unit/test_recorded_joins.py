"""Maps that a model joins: what `record` makes of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from tests.architectures import sentence_of, small_model
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.recording.tape import record
from triattn_core.scenes.trace_sites import map_sites
from triattn_core.trace.sites import is_signed
from triattn_core.views.head_grid.grid import Grid

TOKENS = [f"t{i}" for i in range(13)]


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_difference_of_two_maps_is_joined_and_its_parts_are_kept(implementation):
    """DiffLlama, by its equation: head h is (A[h] - λ A[h + 2]) V; the values of both calls stand beside each other."""
    model = small_model("diffllama")
    model.set_attn_implementation(implementation)
    inputs = sentence_of(model)
    with torch.no_grad():
        plain = model(**inputs)[0]
        with record(model) as tape:
            assert torch.equal(model(**inputs)[0], plain)
    sites = tape.trace(tokens=TOKENS).sites
    assert len(sites) == 12 and tape.error < 1e-5
    for layer in range(4):
        joined = sites[f"layer.{layer}/attention/contribution"]
        parts = [sites[f"layer.{layer}/attention/weight"], sites[f"layer.{layer}/attention/2/weight"]]
        own = model.layers[layer].self_attn
        with torch.no_grad():
            plus, minus = (own.lambda_q1 * own.lambda_k1).sum().exp(), (own.lambda_q2 * own.lambda_k2).sum().exp()
        factor = float(plus - minus + own.lambda_init)
        assert joined.attrs["factor"] == pytest.approx(factor, rel=1e-4)
        assert joined.attrs["quantity"] == "contribution" and "sums_over" not in joined.attrs
        for part in parts:
            np.testing.assert_allclose(joined.values, part.values[:2] - factor * part.values[2:], atol=1e-5)
            np.testing.assert_allclose(part.sum("key"), 1, atol=1e-5)


def test_the_map_that_is_framed_is_the_one_that_is_drawn():
    """A page frames the n-th thumbnail and draws the n-th site: parts of a difference stand in one order in both."""
    model = small_model("diffllama")
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    trace = tape.trace(tokens=TOKENS)
    thumbnails = Grid.of(trace, head_table(trace)).sites
    drawn = [site if is_signed(site) else site.attention for site in thumbnails]
    assert drawn == map_sites(trace) and len(drawn) == 12


class Differential(nn.Module):
    """As Ye et al. write it (arXiv 2410.05258): two maps, subtracted before they meet the values."""

    def forward(self, states, sign: float = -1.0):
        maps = torch.einsum("bhid,bhjd->bhij", states, states).softmax(-1).unflatten(1, (3, 2))
        joined = maps[:, :, 0] - 0.3 * maps[:, :, 1] if sign < 0 else 0.5 * maps[:, :, 0] + 0.5 * maps[:, :, 1]
        return joined @ states[:, ::2]


@pytest.mark.parametrize("sign", [-1.0, 1.0], ids=["difference", "sum"])
def test_maps_that_are_joined_by_hand(sign):
    torch.manual_seed(0)
    states = torch.randn(1, 6, 7, 5)
    with record(model := Differential()) as tape:
        output = model(states, sign)
    sites = tape.trace(tokens=TOKENS[:7]).sites
    maps = torch.einsum("bhid,bhjd->bhij", states, states).softmax(-1)[0]
    scale = (1.0, 0.3, -1) if sign < 0 else (0.5, 0.5, 1)
    expected = scale[0] * maps[::2] + scale[1] * scale[2] * maps[1::2]
    joined = sites["attention/contribution" if sign < 0 else "attention/weight"]
    np.testing.assert_allclose(joined.values, expected.numpy(), atol=1e-6)
    np.testing.assert_allclose(np.einsum("hij,hjd->hid", joined.values, states[0, ::2].numpy()), output[0], atol=1e-5)
    assert joined.attrs["rebuilt"] < 1e-5
    assert joined.attrs.get("sums_over") == (None if sign < 0 else "key")
    parts = [array.values for array in sites.values() if array.attrs["kind"] == "part"]
    np.testing.assert_allclose(parts[0], scale[0] * maps[::2].numpy(), atol=1e-6)
    np.testing.assert_allclose(parts[1], scale[1] * maps[1::2].numpy(), atol=1e-6)


def test_maps_that_are_subtracted_in_place_are_one_signed_map():
    class InPlace(nn.Module):
        def forward(self, states):
            maps = torch.einsum("bhid,bhjd->bhij", states, states).softmax(-1)
            return maps[:, :3].sub_(0.3 * maps[:, 3:]) @ states[:, :3]

    states = torch.randn(1, 6, 7, 5)
    with record(model := InPlace()) as tape:
        model(states)
    maps = torch.einsum("bhid,bhjd->bhij", states, states).softmax(-1)[0]
    (array,) = tape.trace(tokens=TOKENS[:7]).sites.values()
    np.testing.assert_allclose(array.values, (maps[:3] - 0.3 * maps[3:]).numpy(), atol=1e-6)
    assert array.attrs["quantity"] == "contribution" and array.attrs["rebuilt"] < 1e-5


def test_what_else_is_subtracted_is_no_difference_of_maps():
    class Centred(nn.Module):
        def forward(self, states):
            one, two = (
                nn.functional.scaled_dot_product_attention(*[states] * 2, value) for value in (states, 2 * states)
            )
            return one - two

    with record(model := Centred()) as tape:
        model(torch.randn(1, 4, 7, 5))
    assert [attention.kind for attention in tape.attentions] == ["sdpa", "sdpa"]
