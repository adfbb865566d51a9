"""Rows of the tables of docs/results.md, trained and measured again with one command."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.tables.repeat import find, repeat, rows, run
from tests.unit.test_operands_models import write_gsm8k
from triattn_core.checkpoint.config import read_config
from triattn_core.errors import DataError
from triattn_core.training.sweep import choices_of

ROOT = Path(__file__).resolve().parents[2]


def test_every_row_has_a_name_of_its_own_and_a_command_that_its_config_takes():
    found = list(rows())
    assert len({row.name for row in found}) == len(found) > 30
    for row in found:
        arguments = row.arguments("DATA")
        settings = [value for option, value in zip(arguments, arguments[1:]) if option == "--set"]
        changes = {name: values[0] for name, values in map(choices_of, settings)}
        config = read_config(ROOT / arguments[1], changes)
        of_row = row.entry.config
        assert config.model.model_dump(mode="json", include=set(of_row["model"])) == of_row["model"], row.name
        assert config.training.epochs == of_row["training"]["epochs"], row.name
        assert row.seeds


def test_a_row_is_repeated_from_the_owners_own_files(tmp_path, capsys):
    (tmp_path / "data" / "gsm8k_operands").mkdir(parents=True)
    for name, count in (("train", 40), ("test", 12)):
        write_gsm8k(tmp_path / "data" / "gsm8k_operands" / f"{name}.jsonl", count, len(name))
    row = find("pairwise scores after a two-way layer")
    small = ("training.epochs=1", "model.hidden=8", "data.dev_problems=10", "training.batch=30")
    lines = list(repeat(row, tmp_path / "data", tmp_path / "out", small))
    assert [line.partition(" % in")[0] for line in lines] == ["seed 0: 71.1", "seed 1: 68.7", "seed 2: 70.7"]
    assert len(list((tmp_path / "out" / "results").iterdir())) == 1
    assert run([]) == 0
    assert "CLUTRR: two-way, two layers\n    triattn sweep checkpoints/baselines/clutrr-tri/config.json" in (
        capsys.readouterr().out
    )
    with pytest.raises(DataError, match="no row 'Tree'; one of: Tri"):
        find("Tree")
