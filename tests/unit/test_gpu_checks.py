"""The checks for a card, on the CPU: they pass and fail where they should, and say why they are skipped."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
import torch

from tests.gpu import __main__ as gpu
from tests.gpu import checks, trainings
from triattn_core.attention import tri
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.training.loop import Event


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card: the checks run on it")
def test_without_a_card_it_says_why_and_ends_well(tmp_path, capsys):
    assert gpu.main(["--out", str(tmp_path / "gpu.json")]) == 0
    assert "skipped: PyTorch" in capsys.readouterr().out
    assert not (tmp_path / "gpu.json").exists()  # a report that is there stays


def test_the_same_checks_pass_on_the_cpu(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(checks, "LEAST", 0)
    monkeypatch.setattr(checks, "ALL", 64)
    name = next(entry.name for entry in list_checkpoints() if entry.metrics.get("example"))
    more = [
        "--device",
        "cpu",
        "--names",
        name,
        "--lengths",
        "16",
        "--training-seconds",
        "0",
        "--out",
        str(tmp_path / "gpu.json"),
    ]
    assert gpu.main(more) == 0, capsys.readouterr().out
    report = json.loads((tmp_path / "gpu.json").read_text())
    assert {row["check"] for row in report["rows"]} == {"memory", "product path", "recorded", "rate", "layer"}
    recorded = [row for row in report["rows"] if row["check"] == "recorded"]
    assert [(row["name"], row["precision"]) for row in recorded] == [(name, "float32"), (name, "bfloat16")]
    assert recorded[0]["furthest"] < 1e-4 and report["failed"] == 0


def test_another_number_than_the_recorded_one_fails():
    entry = next(entry for entry in list_checkpoints() if entry.metrics.get("example"))
    example = entry.metrics["example"]
    moved = example | {"probabilities": [probability + 0.1 for probability in example["probabilities"]]}
    row = checks.check_checkpoint(replace(entry, metrics={"example": moved}), "cpu", "float32")
    assert row["passed"] is False and row["furthest"] == pytest.approx(0.1, abs=1e-3)
    assert "skipped" in checks.check_checkpoint(replace(entry, metrics={}), "cpu", "float32")


def test_a_checkpoint_that_cannot_be_loaded_is_a_failed_check(tmp_path):
    entry = next(entry for entry in list_checkpoints() if entry.metrics.get("example"))
    shutil.copytree(entry.path, tmp_path / "bad")
    (tmp_path / "bad" / "model.safetensors").write_bytes(b"none")
    row = checks.check_checkpoint(replace(entry, path=tmp_path / "bad"), "cpu", "float32")
    assert row["passed"] is False and "damaged" in row["reason"] and gpu.line(row).startswith("FAILED")


def test_a_product_path_that_is_wrong_fails(monkeypatch):
    right = tri.product_attention
    monkeypatch.setattr(tri, "product_attention", lambda *parts: 1.01 * right(*parts))
    assert checks.check_product_path("dot", "cpu", torch.float32, True)["passed"] is False


def test_time_that_is_over_leaves_checkpoints_out():
    rows = [row for row in gpu.rows("cpu", (), (), -1.0) if row["check"] == "recorded"]
    assert rows and all(row["skipped"] == "no time left" for row in rows)


SMALL = {"reader, full size": {"width": 10, "hidden": 12}, "COIN": {"embedding": 15, "hidden": 10}}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(trainings.CONFIGS))
def test_what_is_trained_on_a_card_learns(name):
    row = trainings.check_training(name, "cpu", 250, 200, 2 * trainings.ENDS + 1, **SMALL[name])
    assert row["passed"], row
    assert row["steps"] > 20 * 2 * trainings.ENDS and row["rows/s"] > 0 and row["loss"][1] < row["loss"][0]


def test_a_loss_that_does_not_fall_fails(monkeypatch):
    events = [Event("step", 20 * (i + 1), 1000, {"loss": 1.0 + i, "steps/s": 2.0}) for i in range(8)]
    monkeypatch.setattr(trainings, "train", lambda *given: iter(events))
    row = trainings.check_training("COIN", "cpu", 10, 20)
    assert row["passed"] is False and row["loss"] == [2.0, 7.0]
    monkeypatch.setattr(trainings, "train", lambda *given: iter(events[:3]))
    assert "too few" in trainings.check_training("COIN", "cpu", 10, 20)["skipped"]
