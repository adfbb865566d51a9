"""Configs, records and links of before the pairwise scores were called Strassen's."""

from __future__ import annotations

import json
import shutil

from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import SHIPPED, find_checkpoint, laboratory_checkpoints, list_checkpoints
from triattn_core.results.run_records import read_records

SHIPPED_NAME = "false-friends-tri-strassen"


def old_checkpoint(folder):
    """A copy of a shipped checkpoint, with the similarity as configs had it."""
    shutil.copytree(SHIPPED / "laboratory" / SHIPPED_NAME, folder / "mine")
    file = folder / "mine" / "config.json"
    file.write_text(file.read_text().replace('"strassen"', '"pairwise"'))
    assert '"pairwise"' in file.read_text()
    return folder / "mine"


def test_an_old_config_loads_as_todays(tmp_path):
    old, new = old_checkpoint(tmp_path), SHIPPED / "laboratory" / SHIPPED_NAME
    assert read_config(old / "config.json") == read_config(new / "config.json")
    assert read_config(new / "config.json", {"model.similarity": "pairwise"}).model.similarity == "strassen"
    assert load(old).digest == load(new).digest
    (entry,) = list_checkpoints(tmp_path)
    assert entry.config["model"]["similarity"] == "strassen"


def test_an_old_record_is_read_as_todays(tmp_path):
    (config,) = (entry.config for entry in laboratory_checkpoints() if entry.name == SHIPPED_NAME)
    old = config | {"model": config["model"] | {"similarity": "pairwise"}}
    line = {"name": "x", "config": old, "set": {"model.similarity": "pairwise"}, "each_seed": [{"seed": 1}]}
    (tmp_path / "old.jsonl").write_text(json.dumps(line) + "\n")
    (record,), problems = read_records(tmp_path / "old.jsonl")
    assert record.changed == {"model.similarity": "strassen"} and not problems
    assert record.entry.config == config


def test_old_names_of_checkpoints_lead_to_todays():
    for old in ("false-friends-tri-pairwise", "gsm8k-pairwise"):
        assert find_checkpoint(old).name == old.replace("pairwise", "strassen")
