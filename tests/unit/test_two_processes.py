"""`accelerate launch` with two processes (gloo, on the CPU) gives the weights that one process gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.support.tiny import change, make_world
from triattn_core.__main__ import main

LAUNCH = ["-m", "accelerate.commands.launch", "--cpu", "--num_machines", "1", "--mixed_precision", "no"]
TOLERANCE = 2e-3  # of weights stored in half precision, after 18 steps


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return make_world(tmp_path_factory.mktemp("two"), ("bi",))


def trained(world: Path, processes: int, rate: float) -> dict[str, torch.Tensor]:
    """The weights after a training with so many processes; one is this one."""
    folder = world / f"{processes}-{rate}" / "small-bi"
    shutil.copytree(world / "checkpoints" / "small-bi", folder)
    change(folder, model={"dropout": 0.0}, training={"epochs": 3, "rate": rate})
    places = [str(folder / "config.json"), "--data", str(world / "data"), "--runs", str(folder.parent / "runs")]
    if processes == 1:
        assert main(["train", *places, "--device", "cpu"]) == 0
    else:
        command = [sys.executable, *LAUNCH, "--num_processes", str(processes), "-m", "triattn_core", "train", *places]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
        assert ended.returncode == 0, ended.stderr[-3000:]
    return load_file(folder / "model.safetensors")


@pytest.mark.slow
def test_two_processes_share_each_batch_and_end_with_the_weights_of_one(world, monkeypatch):
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(world / "checkpoints"))
    first, one, two = trained(world, 1, 1e-12), trained(world, 1, 0.01), trained(world, 2, 0.01)
    moved = max((one[name] - first[name]).abs().max().item() for name in one)
    apart = max((one[name] - two[name]).abs().max().item() for name in one)
    assert moved > 10 * TOLERANCE and apart < TOLERANCE, (moved, apart)
