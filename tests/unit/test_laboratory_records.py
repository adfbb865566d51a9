"""Sweeps over laboratory models: what they record, and what the page makes of it."""

from __future__ import annotations

import json

import pytest

from tests.unit.test_laboratory_models import config
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.results.laboratory import laboratory_records, recipes, seed_tests, size_rows, step_rows
from triattn_core.views.charts import live_loss, truth_curves


@pytest.fixture
def entry(tmp_path, monkeypatch):
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
    longer = ["--set", "data.train_rows=600", "--name", "laboratory-steps", "--test"]
    assert main(["sweep", path, *runs, *longer]) == 0
    assert main(["sweep", path, *runs, "--set", "data.size=99", "--name", "laboratory-wrong"]) == 1
    (checkpoint,) = laboratory_checkpoints()
    return checkpoint


def test_seeds_and_sizes_of_sweeps_are_joined_to_their_checkpoint(entry):
    records = laboratory_records()
    assert sorted(seed_tests(entry, records)) == [1, 2, 3] and sorted(seed_tests(entry, ())) == [1]
    again = next(record for record in records if not record.changed)
    other = {**again.entry.metrics["each_seed"][0], "seed": 1, "test": {"accuracy": -1.0}}
    again.entry.metrics["each_seed"].append(other)  # the checkpoint's seed, measured once more
    assert seed_tests(entry, records)[1] == entry.metrics["each_seed"][0]["test"]
    rows = size_rows({"Tri": ("tri", entry)}, 6, records)
    assert {size: len(part) for size, part in rows.groupby("x")} == {4: 2, 6: 6, 8: 2}
    share = rows[rows.measure == "mass"].groupby("x").floor.first()
    assert share.to_dict() == {4: 6.25, 6: 2.78, 8: 1.56}
    assert size_rows({"Tri": ("tri", entry)}, 6, ()).empty
    for part in ({"model": {}}, {"training": {**entry.config["training"], "rate": 0.5}}, {"data": {}}):
        other = type(entry)(entry.name, entry.path, {**entry.config, **part}, entry.metrics, "", 0)
        assert sorted(seed_tests(other, records)) == [1]  # trained otherwise, it has its own seed alone


def test_longer_training_has_its_steps_and_a_model_its_recipe(entry):
    rows = step_rows({"Tri": ("tri", entry)}, laboratory_records())
    rows_, batch, epochs = (
        entry.config["data"]["train_rows"],
        *(entry.config["training"][n] for n in ("batch", "epochs")),
    )
    own, longer = (epochs * -(-n // batch) for n in (rows_, 600))
    assert own != longer and {x: len(part) for x, part in rows.groupby("x")} == {own: 6, longer: 2}
    (recipe,) = recipes({"Tri": ("tri", entry)}).to_dict("records")
    assert (recipe["steps"], recipe["rows"], recipe["parameters"]) == (own, rows_, entry.metrics["parameters"])


def test_curves_and_loss_are_drawn(entry):
    rows = size_rows({"Tri": ("tri", entry)}, 6, laboratory_records())
    drawn = json.dumps(truth_curves.figure(rows, "accuracy", "keys", {"tri": "#123456"}, log=True).to_dict())
    assert "#123456" in drawn and '"log"' in drawn
    assert truth_curves.describe(rows, "keys").endswith("Dashed, chance: 25.0.")
    loss = rows.assign(step=[10 * i for i in range(len(rows))], loss=1.25)[["step", "loss"]]
    levels = live_loss.guesses(12, 100 / 6)
    assert list(levels) == ["any of 12 answers", "any of 6"]
    assert list(live_loss.guesses(4, 25.0)) == ["any of 4 answers"]
    assert "guessing: any of 12 answers 2.485, any of 6 1.792." in live_loss.describe(loss, levels)
    assert live_loss.figure(loss, 100, levels, "#123456").to_dict()["layer"]
