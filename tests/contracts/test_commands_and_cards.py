"""Each stored number has a command that repeats it, and each model card says what config and metrics say."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from triattn_core.checkpoint.config import read_config
from triattn_core.errors import ConfigError
from triattn_core.kinds import load_kind
from triattn_core.results.run_records import UNSEEDED, config_variant
from triattn_core.training.model_card import encoder_card
from triattn_core.training.sweep import choices_of

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "triattn_core/results/records").glob("*.jsonl"))
METRICS = sorted((ROOT / "checkpoints").glob("*/*/metrics.json"))


def settings(config) -> dict:
    return config.model_dump(mode="json", exclude=UNSEEDED)


def trained_by(command: str) -> Iterator[dict]:
    """The settings of each model that a `triattn train` or `sweep` command trains."""
    words = shlex.split(command)
    changes = dict(choices_of(value) for word, value in zip(words, words[1:]) if word == "--set")
    for path in (ROOT / word for word in words if word.endswith("config.json")):
        for values in product(*changes.values()):
            with suppress(ConfigError):  # a combination that this config refuses
                yield settings(read_config(path, dict(zip(changes, values))))


def voted_by(command: str) -> dict:
    """The settings of a checkpoint that votes with further seeds of its own config."""
    name, *others = shlex.split(command.partition(" DATA")[0].removeprefix("triattn evaluate "))
    assert [other[:-1] for other in others] == [f"runs/{name}-seed-"] * len(set(others)), command
    (file,) = ROOT.glob(f"checkpoints/*/{name}/config.json")
    return settings(read_config(file))


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_the_command_of_a_record_trains_its_model(file):
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        record = json.loads(line)
        command, config = record["command"], record["config"]
        if command.startswith("python -m "):
            assert (ROOT / f"{command.split()[2].replace('.', '/')}.py").is_file()
            continue
        parsed = load_kind(config.get("kind", "tan")).section().model_validate(config)
        assert record["digest"].startswith(config_variant(parsed)), (number, "--resume would train it again")
        trained = settings(parsed)
        made = [voted_by(command)] if "--vote" in command.split() else trained_by(command)
        assert trained in made, (number, command)
        assert not {"--resume", "--runs"} & set(command.split()), (number, command)


@pytest.mark.parametrize("file", METRICS, ids=lambda file: file.parent.name)
def test_the_command_of_a_checkpoint_names_its_config(file):
    group, name = file.parts[-3:-1]
    source = f"checkpoints/{group}/{name}/{'recipe' if group == 'encoders' else 'config'}.json"
    assert (ROOT / source).is_file()
    data = "" if group == "laboratory" else " --data DATA"
    assert json.loads(file.read_text("utf-8"))["command"] == f"triattn train {source}{data}"


@pytest.mark.parametrize("file", METRICS, ids=lambda file: file.parent.name)
def test_a_model_card_says_what_config_and_metrics_say(file):
    folder = file.parent
    if folder.parent.name == "encoders":
        card = encoder_card(folder)
    else:
        card = load_kind(json.loads((folder / "config.json").read_text("utf-8")).get("kind", "tan")).card(folder)
    assert (folder / "README.md").read_text("utf-8") == card
