"""What a joined cluster is asked for: no more than `--workers` at a time, and no more than it has."""

from __future__ import annotations

import time

import pytest

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
        time.sleep(0.3)
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
    assert max(sum(start <= begun < end for start, end in spans) for begun, _ in spans) == 2
