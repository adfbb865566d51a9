"""What decays in training, how an event is written, and that a state holds every tensor."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from torch import nn

from tests.unit.test_loop import job
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import SHIPPED
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


def in_one_buffer() -> loop.Job:
    """A job whose parameters lie in one piece of memory, as cuDNN lays those of an LSTM."""
    shared = job()
    parameters = list(shared.module.parameters())
    buffer = torch.cat([parameter.detach().flatten() for parameter in parameters])
    for parameter, part in zip(parameters, buffer.split([parameter.numel() for parameter in parameters])):
        parameter.data = part.view_as(parameter)
    return shared


def ends_with(job: loop.Job, run: Path, resume: bool = False) -> nn.Module:
    list(loop.fit(job, run, Accelerator(cpu=True), resume=resume))
    return job.module


def test_weights_that_share_memory_are_resumed(tmp_path):
    whole = ends_with(job(), tmp_path / "whole")
    ends_with(dataclasses.replace(in_one_buffer(), steps=10), tmp_path / "run")
    resumed = ends_with(in_one_buffer(), tmp_path / "run", resume=True)
    assert all(map(torch.equal, whole.state_dict().values(), resumed.state_dict().values()))


def test_a_run_can_be_resumed_after_a_setting_was_added():
    """Its recipe has no defaults, so a new setting with a default changes nothing; nor do more seeds."""
    path = SHIPPED / "quora" / "quora-coin" / "config.json"
    recipe = loop.recipe_of(read_config(path))
    assert "block_rate" not in recipe["model"] and "more_seeds" not in recipe["training"] and "digest" not in recipe
    changed = loop.recipe_of(read_config(path, {"model.block_rate": 4}))
    assert changed == {**recipe, "model": {**recipe["model"], "block_rate": 4.0}}
