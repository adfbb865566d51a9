"""Sweeps over laboratory models: what they record, and what the page makes of it."""

from __future__ import annotations

import json

import pytest

from tests.unit.test_laboratory_models import config
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.results.laboratory import laboratory_records, seed_tests, size_rows
from triattn_core.views.charts import live_loss, truth_sizes


@pytest.fixture
def card(tmp_path, monkeypatch):
    """A trained checkpoint, two more seeds of it, and it at two more sizes."""
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path))
    folder = tmp_path / "laboratory" / "sum-tri"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config("tri")), "utf-8")
    path, runs = str(folder / "config.json"), ["--runs", str(tmp_path / "runs")]
    assert main(["train", path, *runs]) == 0
    assert main(["sweep", path, *runs, "--seeds", "2,3", "--name", "laboratory", "--test"]) == 0
    sizes = ["--set", "data.size=4,8", "--name", "laboratory-size", "--test"]
    assert main(["sweep", path, *runs, *sizes]) == 0
    assert main(["sweep", path, *runs, "--set", "data.size=99", "--name", "laboratory-wrong"]) == 1
    (found,) = laboratory_checkpoints()
    return found


def test_seeds_and_sizes_of_sweeps_are_joined_to_their_checkpoint(card):
    records = laboratory_records()
    assert sorted(seed_tests(card, records)) == [1, 2, 3] and sorted(seed_tests(card, ())) == [1]
    rows = size_rows({"Tri": ("tri", card)}, 6, records)
    assert {size: len(part) for size, part in rows.groupby("size")} == {4: 2, 6: 6, 8: 2}
    share = rows[rows.measure == "mass"].groupby("size").floor.first()
    assert share.to_dict() == {4: 6.25, 6: 2.78, 8: 1.56}
    assert size_rows({"Tri": ("tri", card)}, 6, ()).empty
    other = type(card)(card.name, card.path, {**card.config, "model": {}}, card.metrics, "", 0)
    assert sorted(seed_tests(other, records)) == [1]  # a checkpoint with other settings has its own seed alone


def test_sizes_and_loss_are_drawn(card):
    rows = size_rows({"Tri": ("tri", card)}, 6, laboratory_records())
    drawn = truth_sizes.figure(rows, "accuracy", "keys", {"tri": "#123456"}).to_dict()
    assert "#123456" in json.dumps(drawn) and "chance: 25.0 at 4" in truth_sizes.describe(rows, "keys")
    loss = rows.assign(step=[10 * i for i in range(len(rows))], loss=1.25)[["step", "loss"]]
    assert "guessing has 1.386" in live_loss.describe(loss, 4)
    assert live_loss.figure(loss, 100, 4, "#123456").to_dict()["layer"]
