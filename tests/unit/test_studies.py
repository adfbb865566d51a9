"""The claims of the guided studies: for the input that is shown and for its paraphrases, with the shipped models."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from triattn_core.__main__ import main
from triattn_core.attention.fixed_weights import replacement
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.studies import run, studies


@pytest.mark.parametrize("name", studies())
def test_the_claim_holds(name):
    study = studies()[name]
    assert len(study.examples) >= 4  # the one that is shown, and three paraphrases
    bundles = [load(checkpoint) for checkpoint in study.checkpoints]
    findings = run(study, bundles)
    assert all(finding.holds for finding in findings), [(one.value, one.untrained) for one in findings]
    assert findings[0].value == pytest.approx(study.shown, rel=0.02)
    assert "{" not in study.finding
    if study.maps is not None:
        for array in study.maps(bundles, study.examples[0]).values():
            assert set(array.dims) == {"query", "key"}
    if study.margin is not None:  # a twin that fails: untrained models do not keep the claim
        assert not any(one.holds for one in run(study, [bundle.untrained() for bundle in bundles]))


def test_of_the_dialogue_the_attention_counts_and_its_third_order_does_not():
    study = studies()["earlier-turn"]
    bundles = [load(name) for name in study.checkpoints]
    falls = {}
    for weights in ("even", "product_of_marginals"):
        with replacing(replacement(weights)):
            falls[weights] = study.measure(bundles, study.examples[0])
        assert f"{falls[weights]:.0f}" in study.finding
    assert falls["even"] < study.shown - 20 and abs(falls["product_of_marginals"] - study.shown) < 2


def test_the_command_repeats_them(capsys):
    assert main(["studies", "negation-by-feature", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["holds"] for one in told] == [True] * 4 and told[0]["value"] == pytest.approx(28.8, rel=0.02)
    assert main(["studies", "negation-by-features"]) == 1
    assert "negation-by-feature" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "holds"), [("negation-by-feature", False), ("context-term-of-coin", True)])
def test_a_change_does_what_is_said_of_it(name, holds):
    study = studies()[name]
    (finding,) = run(study, [load(checkpoint) for checkpoint in study.checkpoints], [study.edited])
    assert finding.holds == holds and ("fails there" in study.change) != holds


def test_the_response_falls_with_another_thing_and_not_with_a_wired_one():
    study = studies()["earlier-turn"]
    bundles, turns = [load(name) for name in study.checkpoints], study.examples[0].history
    wired = replace(study.examples[0], history=(turns[0].replace("wireless", "wired"), *turns[1:]))
    assert study.measure(bundles, wired) > study.shown - 5 > study.shown / 2 > study.measure(bundles, study.edited)
