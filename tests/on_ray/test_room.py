"""What a joined cluster is asked for: no more than `--workers` at a time, and no more than it has."""

from __future__ import annotations

import json
import time

import pytest

from tests.on_ray.test_rows import job, make_source
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
    monkeypatch.setattr(train, "train_variant", pretend)
    monkeypatch.setattr(sweeps, "store", store)
    command = command_line(small, "sweep", "there", "--set", "training.epochs=1,2,3,4,5", "--workers", "2")
    assert main([*command, "--engine", "ray", "--address", address]) == 0
    assert len(spans) == 5
    assert max(sum(start <= begun < end for start, end in spans) for begun, _ in spans) <= 2  # a busy machine: 1


@pytest.fixture
def three_cores(address):
    """All cores of the cluster but three of one node are taken."""

    @ray.remote
    class Taken:
        def begin(self):
            pass

    on_ray.connect(Cluster(address))
    others = [Taken.options(num_cpus=cores).remote() for cores in (4, 1)]
    ray.get([other.begin.remote() for other in others])
    yield
    for other in others:
        ray.kill(other)


def test_a_cluster_needs_two_cores_more_than_it_has_workers(address, three_cores, tmp_path, capsys):
    with use_world(tmp_path) as root:
        command = ["evaluate", "bi", str(root / "rows.jsonl"), "--engine", "ray", "--address", address]
        command += ["--work", str(root / "work"), "--json", "--workers"]
        assert main([*command, "8"]) == 1
        printed = capsys.readouterr()
        assert main([*command, "1"]) == 0
    assert printed.out == "" and printed.err.splitlines()[-1].endswith(
        "has 8 cores, and --workers 8 needs 10, 2 of them to read the rows; pass --workers 6 or start more nodes"
    )
    assert json.loads(capsys.readouterr().out)["n"] == 75


def test_a_resumed_job_needs_no_more_cores_than_a_new_one(address, three_cores, tmp_path):
    """What filters the rows that are done takes a core: with too few this waits for ever."""
    source = make_source(tmp_path, 3000)
    for _ in range(2):
        begun = job(source, tmp_path / "job", address, workers=1)
        begun.run()
        begun.release()
    assert sum(map(len, begun.tables())) == 3000 and begun.computed == 0
