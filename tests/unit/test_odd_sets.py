"""Sets of sentences that cannot be trained on as they are: what is said of them, before any training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.tiny import make_encoder
from triattn_core.__main__ import main
from triattn_core.checkpoint.config import read_config
from triattn_core.errors import DataError
from triattn_core.training.sentence.splits import splits

NAMES = ("person", "place", "thing")
CONFIG = {
    "format": 1, "kind": "sentence", "task": "sentences", "language": "en", "encoder": "tiny", "max_tokens": 12,
    "labels": NAMES, "model": {"mechanism": "mtsa", "width": 8, "out": 12, "heads": 2, "hidden": 8},
    "training": {"epochs": 1, "rate": 0.01, "batch": 8},
}  # fmt: skip


def one_set(root: Path, rows: list[dict], **data) -> Path:
    """The config of a checkpoint that trains on `odd/all.jsonl` with these rows, both under `root`."""
    (root / "odd").mkdir()
    (root / "odd" / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (root / "odd-mtsa").mkdir()
    file = root / "odd-mtsa" / "config.json"
    file.write_text(json.dumps(CONFIG | {"data": {"train": ["odd/all"], **data}}), "utf-8")
    return file


@pytest.mark.parametrize(
    "labels", [{"zero": "person"}, {"0": ["bad"]}, {"0": 1}, {"0": "person", "2": "place"}, {}], ids=str
)
def test_labels_that_are_not_names_by_number_are_one_line(tmp_path, labels):
    config = read_config(one_set(tmp_path, [{"text": "who ?", "label": 0}]))
    (tmp_path / "odd" / "labels.json").write_text(json.dumps(labels), "utf-8")
    with pytest.raises(DataError, match=r"labels.json: expected the name of each label by its number") as error:
        splits(config, tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "   ", "label": 1}, "The sentence is empty"),
        ({"text": "\u200b", "label": 1}, "The sentence has no character that the model can read"),
        ({"text": "the car", "label": 7}, "has label 7, but the config names 3 labels"),
    ],
)
def test_a_row_that_cannot_be_trained_on_is_named(tmp_path, monkeypatch, capsys, row, message):
    """Not one like it before it that is not asked for."""
    make_encoder(tmp_path / "checkpoints" / "encoders" / "tiny")
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    rows = [{"text": "the red car", "label": 0}, {**row, "src": "other"}, {"text": "who ?", "label": 1}, row]
    file = one_set(tmp_path, [{"src": "random", **one} for one in rows], where={"src": "random"})
    assert main(["train", str(file), "--data", str(tmp_path), "--runs", str(tmp_path / "runs")]) == 1
    (line,) = (one for one in capsys.readouterr().err.splitlines() if one.startswith("triattn: "))
    assert f"all.jsonl:4: {message}" in line


@pytest.mark.parametrize(
    ("folds", "repeats", "message"), [(3, False, "2 different texts for 3 folds"), (5, True, "4 rows for 5 folds")]
)
def test_fewer_texts_than_folds_are_told_before_training(tmp_path, folds, repeats, message):
    rows = [{"text": text, "label": 0} for text in ("who ?", "the car", "The car!", "who")]
    config = read_config(one_set(tmp_path, rows, folds=folds, repeats=repeats))
    with pytest.raises(DataError, match=f"all.jsonl: {message}"):
        splits(config, tmp_path)
