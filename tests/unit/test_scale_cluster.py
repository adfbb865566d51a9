"""What a joined cluster is asked for: no more than `--workers` at a time, and no more than it has."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.support.evaluate_world import use_world
from tests.support.small_training import command_line, make_small
from triattn_core.__main__ import main
from triattn_core.scale import train
from triattn_core.training import sweep as sweeps
from triattn_core.training.loop import Event

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("only_ray"),
    pytest.mark.timeout(600, method="signal", func_only=True),
]


def test_a_sweep_trains_no_more_variants_at_a_time_than_there_are_workers(address, tmp_path, monkeypatch):
    def pretend(variant, seeds, plan, request, folder):
        begun = time.time()
        time.sleep(1.5)
        return {"span": (begun, time.time())}

    def store(plan, variant, digest, record, number):
        spans.append(record["span"])
        return Event("metric", number, 5, {})

    spans = []
    small = make_small(tmp_path / "world")
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", f"{small / 'there'}:{small / 'checkpoints'}")
    monkeypatch.setattr(train, "_train_variant", pretend)
    monkeypatch.setattr(sweeps, "store", store)
    command = command_line(small, "sweep", "there", "--set", "training.epochs=1,2,3,4,5", "--workers", "2")
    assert main([*command, "--engine", "ray", "--address", address]) == 0
    assert len(spans) == 5
    assert max(sum(start <= begun < end for start, end in spans) for begun, _ in spans) <= 2  # a busy machine: 1


def test_a_cluster_needs_one_core_more_than_it_has_workers(only_ray, tmp_path):
    from ray.cluster_utils import Cluster as Simulated

    nodes = Simulated(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        with use_world(tmp_path) as root:
            command = [sys.executable, "-m", "triattn_core", "evaluate", "bi", str(root / "rows.jsonl")]
            command += ["--engine", "ray"]
            command += ["--address", nodes.address, "--work", str(root / "work"), "--json", "--workers"]
            two, one = (
                subprocess.run([*command, workers], capture_output=True, text=True, timeout=240) for workers in "21"
            )
    finally:
        nodes.shutdown()
    assert two.returncode == 1 and two.stdout == ""
    assert two.stderr.splitlines()[-1].endswith(
        "needs 3, one of them to read the rows; pass --workers 1 or start more nodes"
    )
    assert one.returncode == 0 and json.loads(one.stdout)["n"] == 75
