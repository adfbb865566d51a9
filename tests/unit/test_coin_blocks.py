"""Blocks of a COIN that no example shows at work are told, with the number that says so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support.coin_checkpoints import make_checkpoints
from triattn_core.analysis import coin_blocks
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.inference.explain import explain
from triattn_core.tasks import pairs
from triattn_core.trace.site import Site
from triattn_core.views.coin.blocks import blocks


def measured(*largest: float) -> dict:
    return {"pairs": 3, "blocks": [{"largest": size, "changed": 0.1} for size in largest]}


def test_quiet_blocks_are_told_with_a_model_that_has_none():
    record = {"late": measured(9.0, 1.25), "whole": measured(9.0, 8.0)}
    said = coin_blocks.describe_quiet("late", record)
    assert said.startswith("Block 2: at most 1.25 times an even weight in all 3 pairs here.")
    assert said.endswith("whole aligns in every block.")
    assert coin_blocks.describe_quiet("whole", record) == "" == coin_blocks.describe_quiet("other", record)


def test_what_is_recorded_is_of_each_coin_here():
    record = json.loads(coin_blocks.RECORD.read_text("utf-8"))
    assert "Block 3" in coin_blocks.describe_quiet("quora-coin", record)
    for told in record.values():
        assert all(block["largest"] >= 1 and 0 <= block["changed"] <= 1 for block in told["blocks"])


def test_what_is_measured_is_the_largest_weight_of_all_pairs_and_both_ways(tmp_path, monkeypatch):
    few = pairs.examples("en")[:2]
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "checkpoints", ("quora-coin",))))
    monkeypatch.setattr(pairs, "examples", lambda language: few)
    told = coin_blocks.measure("quora-coin")
    bundle, largest, changed = load(tmp_path / "checkpoints" / "quora-coin", "cpu"), np.zeros(3), np.zeros(3)
    for example in few:
        trace = explain(bundle, example)[1]
        for i in range(3):
            for way in ("a_over_b", "b_over_a"):
                weights = trace.sites[Site(layer=i, role=way, quantity="weight")].values
                largest[i] = max(largest[i], weights.max() * weights.shape[-1])
                changed[i] = max(changed[i], abs(blocks(trace, way)[i].changed).max())
    assert told["pairs"] == 2
    assert [block["largest"] for block in told["blocks"]] == pytest.approx(largest.tolist(), abs=1e-3)
    assert [block["changed"] for block in told["blocks"]] == pytest.approx(changed.tolist(), abs=1e-3)
    assert changed.max() > 0.01
