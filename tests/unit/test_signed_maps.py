"""Signed maps that a model uses, such as a difference of two: drawn where weights are, on a scale of their own."""

from __future__ import annotations

import base64

import numpy as np
import pytest
import torch

from tests.architectures import sentence_of, small_model
from tests.support.figure_arrays import sent_array
from triattn_core.analysis.maps.head_measures import rollout
from triattn_core.errors import TraceError
from triattn_core.recording.tape import record
from triattn_core.scenes import heads, two_way_map
from triattn_core.scenes.trace_sites import map_sites
from triattn_core.sources.explanation import Explanation
from triattn_core.trace.from_array import trace_of
from triattn_core.trace.site import Site
from triattn_core.trace.sites import two_way_sites

TOKENS = [f"t{i}" for i in range(13)]
USED = Site(layer=1, role="attention", quantity="contribution")


@pytest.fixture(scope="module")
def differential():
    model = small_model("diffllama")
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    return tape.trace(tokens=TOKENS)


def test_the_map_that_is_used_stands_before_its_parts(differential):
    of_layer = [str(site) for site in map_sites(differential) if site.layer == 1]
    assert of_layer == ["layer.1/attention/contribution", "layer.1/attention", "layer.1/attention/2"]
    assert len(two_way_sites(differential)) == 8  # measures are of weights alone


def test_thumbnails_of_both_kinds_have_scales_of_their_own(differential):
    scene = heads.build([Explanation.of_trace(differential)], heads.Settings())
    payload = scene.screen.payload
    (panel,) = payload["panels"]
    assert panel["cells"]["scales"] == ["signed", "main", "main"] * 4
    assert {name: scale["kind"] for name, scale in payload["scales"].items()} == {"main": "log", "signed": "signed"}
    own = differential.site(USED).values
    levels = np.frombuffer(base64.b64decode(panel["arrays"]["levels 3"]["data"]), np.uint8).reshape(own.shape)
    assert (levels < 127).any() and not ((levels < 127) & (own >= 0)).any()
    assert np.isnan(sent_array(payload, 0, "entropy").reshape(12, 4)[0]).all()
    assert len(scene.table) == 8 * 4 and scene.screen.maps[0].scale.kind == "signed"


def test_a_signed_map_is_drawn_with_its_factor_and_its_proof(differential):
    scene = two_way_map.build([Explanation.of_trace(differential)], two_way_map.Settings(site=USED, head=2))
    panel = scene.screen.payload["panels"][0]
    array = differential.site(USED)
    assert panel["note"].startswith(f"signed: A[h] − {array.attrs['factor']:.3g} · A[h + 2], rebuilt to ")
    assert scene.screen.payload["scales"]["main"]["kind"] == "signed"
    assert [name for name, _ in scene.screen.payload["readout"]["columns"]] == ["signed", "rank"]
    assert "times the value of" in scene.screen.alt and "%" not in scene.screen.alt
    open_keys = np.arange(1, 14)[:, None]  # of a causal mask: an even share is one of them
    place = np.unravel_index((np.abs(array.values[1]) * open_keys).argmax(), array.shape[1:])
    assert place == scene.settings.cell[:2] == tuple(scene.screen.payload["walk"][0][:2])
    row = scene.table[(scene.table["query_at"] == place[0]) & (scene.table["key_at"] == place[1])]
    assert row["signed number"].item() == pytest.approx(float(array.values[1][place]))


def test_contributions_of_an_array_can_be_drawn():
    trace = trace_of([[0.5, -0.25], [0.0, 1.0]], tokens=["red", "car"], quantity="contribution")
    scene = heads.build([Explanation.of_trace(trace)], heads.Settings())
    assert list(scene.screen.payload["scales"]) == ["signed"] and scene.table.empty
    assert two_way_map.build([Explanation.of_trace(trace)], two_way_map.Settings()).settings.cell == (1, 1)


def test_rollout_of_signed_maps_is_refused(differential):
    with pytest.raises(TraceError, match="signed maps"):
        rollout(differential)


def test_a_map_with_negative_numbers_is_called_a_contribution():
    class Scaled(torch.nn.Module):
        def forward(self, states):
            return -0.5 * (states @ states.mT).softmax(-1) @ states

    with record(model := Scaled()) as tape:
        model(torch.randn(1, 7, 5))
    assert list(tape.trace().sites) == [Site(role="attention", quantity="contribution")]
