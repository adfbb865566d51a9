"""What a joined cluster is asked for: no more than `--workers` at a time, and no more than it has."""

from __future__ import annotations

import json
import time

import pytest

from tests.support.evaluate_world import use_world
from tests.support.small_training import command_line, make_small
from triattn_core.__main__ import main
from triattn_core.scale import on_ray, train
from triattn_core.scale.on_ray import Cluster
from triattn_core.training import sweep as sweeps
from triattn_core.training.loop import Event

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")


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


@pytest.fixture
def two_cores(address):
    """All cores of the cluster but two of one node are taken."""

    @ray.remote
    class Taken:
        def begin(self):
            pass

    on_ray.connect(Cluster(address))
    others = [Taken.options(num_cpus=cores).remote() for cores in (4, 2)]
    ray.get([other.begin.remote() for other in others])
    yield
    for other in others:
        ray.kill(other)


def test_a_cluster_needs_one_core_more_than_it_has_workers(address, two_cores, tmp_path, capsys):
    with use_world(tmp_path) as root:
        command = ["evaluate", "bi", str(root / "rows.jsonl"), "--engine", "ray", "--address", address]
        command += ["--work", str(root / "work"), "--json", "--workers"]
        assert main([*command, "8"]) == 1
        printed = capsys.readouterr()
        assert main([*command, "1"]) == 0
    assert printed.out == "" and printed.err.splitlines()[-1].endswith(
        "has 8 cores, and --workers 8 needs 9, one of them to read the rows; pass --workers 7 or start more nodes"
    )
    assert json.loads(capsys.readouterr().out)["n"] == 75
