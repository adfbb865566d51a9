"""Training and sweeps on two workers: what one process gives, although a worker or the command is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from safetensors.torch import load_file

from tests.support.small_training import command_line, make_small
from triattn_core.__main__ import main

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A world with a config that trains in seconds."""
    world = make_small(tmp_path / "world")
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(world / "checkpoints"))
    return world


def test_two_workers_end_with_the_weights_of_one_process_although_one_is_killed(small, address, capfd):
    here, there = command_line(small, "train", "here"), command_line(small, "train", "there")
    assert main(here) == 0
    killer = threading.Thread(target=kill_a_trainer, args=(small / "there" / "runs" / "small-bi",))
    killer.start()
    assert main([*there, "--engine", "ray", "--address", address]) == 0
    killer.join()
    assert "workers started again 1" in capfd.readouterr().out
    one, two = (load_file(small / folder / "small-bi" / "model.safetensors") for folder in ("here", "there"))
    assert max((one[name] - two[name]).abs().max().item() for name in one) < 2e-3
    scores = [json.loads((small / folder / "small-bi" / "metrics.json").read_text()) for folder in ("here", "there")]
    assert scores[0]["dev"] == scores[1]["dev"]
    assert [path.name for path in (small / "there" / "runs").glob("ray-*")] == []


def kill_a_trainer(run: Path) -> None:
    """One of the workers, once a state is stored."""
    end = time.monotonic() + 300
    while not list(run.glob("state-*[0-9]")) and time.monotonic() < end:
        time.sleep(0.05)
    workers = [
        process
        for process in psutil.process_iter(["cmdline"])
        if "RayTrainWorker" in " ".join(process.info["cmdline"] or ())
    ]
    workers[0].kill()


def test_a_wrong_config_ends_the_training_in_one_line(small, address, capsys):
    (small / "data" / "small" / "train.jsonl").write_text('{"text_a": "who", "text_b": "what"}\n')
    assert main([*command_line(small, "train", "there"), "--engine", "ray", "--address", address]) == 1
    assert "nothing to train on" in capsys.readouterr().err.splitlines()[-1]


def test_a_sweep_whose_driver_was_killed_records_once_what_one_process_records(small, address, monkeypatch):
    choices = ["--set", "training.epochs=1,2", "--set", "model.layers=1,2", "--seeds", "1,2", "--name", "layers"]
    use_results(small, monkeypatch, "here")
    assert main(command_line(small, "sweep", "here", *choices)) == 0
    use_results(small, monkeypatch, "there")
    command = [*command_line(small, "sweep", "there", *choices), "--engine", "ray", "--address", address]
    records = small / "there" / "results" / "layers.jsonl"
    driver = subprocess.Popen([sys.executable, "-m", "triattn_core", *command], start_new_session=True)
    end = time.monotonic() + 300
    while not records.is_file() and driver.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert 1 <= len(records.read_text().splitlines()) < 4
    assert main([*command, "--resume"]) == 0
    one, two = (seed_scores(small / folder / "results" / "layers.jsonl") for folder in ("here", "there"))
    assert len(one) == 4 and one == two
    for folder in ("here", "there"):
        assert {path.name for path in (small / folder / "runs").iterdir()} == {"features", "measured", ".locks"}


def use_results(world: Path, monkeypatch, folder: str) -> None:
    """Records go to a folder of the world."""
    folders = os.pathsep.join([str(world / folder), str(world / "checkpoints")])
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", folders)


def seed_scores(records: Path) -> list:
    """Of each record its settings and the scores of its seeds, in one order."""
    stored = map(json.loads, records.read_text().splitlines())
    return sorted([sorted(record["set"].items()), [seed["dev"] for seed in record["each_seed"]]] for record in stored)
