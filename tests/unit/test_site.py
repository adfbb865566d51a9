"""Site: what its text says, and that it is written and read back exactly."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from random import Random

import pytest
import xarray as xr

from triattn_core.scenes.cube import Settings
from triattn_core.scenes.two_way_map import Settings as MapSettings
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.site import Site, Sites
from triattn_core.trace.sites import layer_by_layer, layer_numbers

TEXTS = {  # every form that files, links and settings have
    "layer.0/a_over_b/weight": Site(layer=0, role="a_over_b", quantity="weight"),
    "layer.11/attention/weight": Site(layer=11, role="attention", quantity="weight"),
    "attention/weight": Site(role="attention", quantity="weight"),
    "attention/over_passage/weight": Site(role="attention/over_passage", quantity="weight"),
    "layer.0/even/weight": Site(layer=0, role="even", quantity="weight"),
    "even/weight": Site(role="even", quantity="weight"),
    "premise/layer.1/token2token/relevance": Site("premise", 1, "token2token", quantity="relevance"),
    "layer.0/tensor/mask/contribution": Site(layer=0, role="tensor/mask", quantity="contribution"),
    "layer.2/b_over_a/without_context/relevance": Site(layer=2, role="b_over_a/without_context", quantity="relevance"),
    "layer.1/a_over_b/gate": Site(layer=1, role="a_over_b", quantity="gate"),
    "pool/a_over_a/weight": Site(role="pool/a_over_a", quantity="weight"),
    "premise/pool/weight": Site(role="premise/pool", quantity="weight"),
    "before/layer.0/a_over_b/weight": Site("before", 0, "a_over_b", quantity="weight"),
    "layer.0": Site(layer=0),
    "rollout": Site(role="rollout"),
    "": Site(),
    "model.layers.3.self_attn/layer.3/visit.1/attention/weight": Site(
        "model.layers.3.self_attn", 3, "attention", 1, "weight"
    ),
    "encoder.3.attn/layer.none/self/weight": Site("encoder.3.attn", None, "self", 0, "weight"),
    "visit.2/attention/weight": Site("", None, "attention", 2, "weight"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_each_text_is_read_as_its_site_and_written_again(text):
    assert Site.parse(text) == TEXTS[text] and str(TEXTS[text]) == text
    assert not text or Choice.from_query(Choice(text).query()) == Choice(TEXTS[text])


def drawn_site(draw: Random) -> Site:
    name = lambda *odd: draw.choice(["self", "attn.3", "a_b", "layers.12.x", *odd])  # noqa: E731
    module = "/".join(name("layer.3", "layer.none", "visit.1", "weight") for _ in range(draw.randrange(4)))
    role = "/".join(name() for _ in range(draw.randrange(1, 4)))
    layer = draw.choice([None, 0, 3, 27])
    return Site(module, layer, role, draw.choice([0, 0, 1, 31]), draw.choice(["", *QUANTITIES]))


def test_every_site_is_read_back_exactly():
    draw = Random(1)
    for site in (drawn_site(draw) for _ in range(2000)):
        assert Site.parse(str(site)) == site, site


def test_a_site_cannot_be_changed_and_sorts_by_numbers():
    site = Site(layer=2, role="a_over_b")
    with pytest.raises(FrozenInstanceError):
        site.layer = 3
    assert sorted([Site(layer=10), site, Site(layer=9)]) == [site, Site(layer=9), Site(layer=10)]
    assert site.layer_name == "layer 3" and Site(role="attention").layer_name == ""


def test_the_layers_of_a_model_keep_their_numbers():
    numbered = [Site("m.7.attn", 7, "self"), Site("m.3.attn", 3, "self")]
    assert layer_numbers(numbered) == {numbered[0]: 7, numbered[1]: 3} and layer_by_layer(numbered) == numbered[::-1]
    without = [Site("first", None, "self"), Site("second", None, "self"), Site("first", None, "self", 1)]
    assert list(layer_numbers(without).values()) == [0, 1, 2]


def test_a_trace_takes_texts_and_deals_in_sites(tmp_path):
    foreign = Site("model.layers.3.self_attn", 3, "attention", 1, "weight")
    array = xr.DataArray([[0.25, 0.75]], dims=("query", "key"), attrs={"quantity": "weight", "sums_over": "key"})
    trace = AttentionTrace({"layer.0/a_over_b/weight": array, foreign: array}, {})
    trace.save(tmp_path / "t.nc")
    assert (
        list(AttentionTrace.load(tmp_path / "t.nc").sites)
        == list(trace.sites)
        == [Site.parse(str(s)) for s in trace.sites]
    )
    assert "layer.0/a_over_b/weight" in trace.sites and "layer.1/a_over_b/weight" not in trace.sites
    assert trace.sites.get("layer.9") is None and 7 not in Sites()
    assert trace.site(str(foreign)) is trace.site(foreign)
    assert foreign.attention.with_quantity("weight") == foreign == replace(foreign.attention, quantity="weight")


def test_settings_hold_a_site_and_are_written_with_its_text():
    settings = Settings(site="layer.1/b_over_a/weight")
    assert settings.site == Site(layer=1, role="b_over_a", quantity="weight")
    assert (
        settings.model_dump()["site"] == "layer.1/b_over_a/weight"
        and '"layer.1/b_over_a/weight"' in settings.model_dump_json()
    )
    assert Settings.model_validate_json(settings.model_dump_json()) == settings
    assert MapSettings().model_dump()["site"] is None
