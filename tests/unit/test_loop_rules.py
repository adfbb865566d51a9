"""What decays in training, and how an event is written."""

from __future__ import annotations

import json

import pytest

from tests.unit.test_loop import job
from triattn_core.training import loop

pytestmark = pytest.mark.slow


def test_only_matrices_decay_and_only_what_is_trained_moves():
    module = job().module
    module[0].requires_grad_(False)
    decaying, free = loop.optimizer_for(module, 0.01).param_groups
    assert decaying["weight_decay"] == 0.01
    assert free["weight_decay"] == 0
    assert [p.shape for p in decaying["params"]] == [(3, 11)]
    assert sorted(p.shape for p in free["params"]) == [(3,), (11,), (11,)]


def test_an_event_is_one_line_of_json():
    event = loop.Event("metric", 3, 9, {"dev_accuracy": 0.5, "note": "ü\n"})
    assert "\n" not in event.line()
    assert json.loads(event.line()) == {"kind": "metric", "step": 3, "steps": 9, "values": event.values}
