"""`triattn train` on TANs: several configs and seeds in one command, trained each for itself and measured together."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file

from tests.support.tiny import change, make_world, mark
from triattn_core.__main__ import main
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.errors import DataError
from triattn_core.inference.evaluate import evaluate
from triattn_core.models.encoder import Encoder
from triattn_core.models.tan import Tan
from triattn_core.tasks import pairs
from triattn_core.training.metrics_writer import record_metrics, seed_run
from triattn_core.training.scores import measure
from triattn_core.training.tan.trainer import train_tan

NAMES = ("small-bi", "small-cbi", "small-tri")


def train(world: Path, *names: str, runs: str = "runs", more: tuple[str, ...] = ("--json",)) -> int:
    paths = [str(world / "checkpoints" / name / "config.json") for name in names]
    return main(["train", *paths, "--data", str(world / "data"), "--runs", str(world / runs), *more])


def read_events(capsys) -> list[dict]:
    """The events that a command has printed."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Bi with two more seeds, C-Bi, and Tri in bfloat16 on every third row; four training rows are marked."""
    root = make_world(tmp_path_factory.mktemp("several"))
    change(root / "checkpoints" / "small-bi", training={"more_seeds": [2, 5]})
    change(root / "checkpoints" / "small-tri", training={"precision": "bf16"}, data={"every": 3})
    mark(root / "data" / "small" / "train.jsonl", in_eval=(1, 5), dup=(6, 17))
    for split in ("dev", "test"):
        mark(root / "data" / "small" / f"{split}.jsonl", in_eval=(0, 1), dup=(2, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


@pytest.fixture(scope="module")
def trained(world):
    """Everything trained by one command; what the encoder read, and in what arithmetic each model ran in training."""
    with pytest.MonkeyPatch.context() as patch:
        rows, ran, forwards = [], Counter(), (Encoder.forward, Tan.forward)

        def reads(self, batch):
            rows.append(len(batch.query.ids))
            return forwards[0](self, batch)

        def runs(self, encoded):
            if self.training:
                ran[type(self.layers[0].attention).__name__, torch.is_autocast_enabled("cpu")] += 1
            return forwards[1](self, encoded)

        patch.setattr(Encoder, "forward", reads)
        patch.setattr(Tan, "forward", runs)
        assert train(world, *NAMES, more=()) == 0
    return rows, ran


def seed_folders(world: Path) -> dict[str, list[Path]]:
    """The checkpoint of each seed, the shipped one first."""
    more = {"small-bi": (2, 5)}
    return {
        name: [world / "checkpoints" / name, *(seed_run(world / "runs", name, seed) for seed in more.get(name, ()))]
        for name in NAMES
    }


def test_the_encoder_reads_each_set_once_for_all(world, trained):
    rows, _ = trained
    train, third, dev, test, examples = 44, 15, 20, 22, len(NAMES)
    attention = dev * len(NAMES)  # measured model by model
    assert sum(rows) == train + third + dev + (dev + test) + examples + attention


def test_measured_together_each_has_the_numbers_it_has_alone(world, trained, capsys):
    for name, folders in seed_folders(world).items():
        metrics = json.loads((world / "checkpoints" / name / "metrics.json").read_text("utf-8"))
        alone = []
        for folder in folders:
            seed_scores = {"seed": read_config(folder / "config.json").training.seed}
            for split in ("dev", "test"):
                assert main(["evaluate", str(folder), str(world / "data" / "small" / f"{split}.jsonl"), "--json"]) == 0
                result = json.loads(capsys.readouterr().out)
                seed_scores[split] = result["metrics"]["accuracy"]
                if folder == folders[0]:
                    assert metrics[split] == metrics[split] | result["metrics"] | {"n": result["n"]}
            alone.append(seed_scores)
        assert metrics["seeds"] == alone
        assert metrics["seed"] == 1
    assert metrics["dev"]["n"] == 20 and metrics["test"]["n"] == 22  # marked rows are measured


def test_seeds_are_other_weights_and_stand_in_the_records(world, trained):
    folders = seed_folders(world)["small-bi"]
    assert [read_config(folder / "config.json").training.seed for folder in folders] == [1, 2, 5]
    assert len({load(folder).digest for folder in folders}) == 3
    entries = {entry.name: entry for entry in list_checkpoints()}
    assert list(entries) == list(NAMES)  # seeds are not shipped
    tests = [one["test"] for one in entries["small-bi"].metrics["seeds"]]
    assert metadata.seed_scores_of(entries["small-bi"]) == tests and len(tests) == 3
    assert metadata.seed_scores_of(entries["small-cbi"]) == []
    assert metadata.seed_scores(list(entries.values())) == {("small", "additive"): {"small-bi": tests}}


def test_a_further_seed_is_what_that_seed_gives_alone(world, trained, tmp_path):
    other = tmp_path / "checkpoints" / "small-bi"
    shutil.copytree(world / "checkpoints" / "small-bi", other)
    change(other, training={"seed": 2, "more_seeds": []})
    shutil.copytree(world / "runs" / "features", tmp_path / "runs" / "features")
    where = ["--data", str(world / "data"), "--runs", str(tmp_path / "runs")]
    assert main(["train", str(other / "config.json"), *where]) == 0
    assert load(other).digest == load(seed_run(world / "runs", "small-bi", 2)).digest
    assert json.loads((other / "metrics.json").read_text("utf-8"))["seeds"][0]["seed"] == 2


def test_resuming_what_is_finished_trains_nothing_and_measures_again(world, trained, capsys, read):
    before = {name: [load(folder).digest for folder in folders] for name, folders in seed_folders(world).items()}
    metrics = {name: json.loads((world / "checkpoints" / name / "metrics.json").read_text("utf-8")) for name in NAMES}
    for name in NAMES:
        (world / "checkpoints" / name / "metrics.json").unlink()
    read.clear()
    assert train(world, *NAMES, more=("--resume", "--json")) == 0
    events = read_events(capsys)
    assert [(event["kind"], event["values"]["checkpoint"]) for event in events] == [("metric", name) for name in NAMES]
    assert sum(read) == 20 + 22 + len(NAMES) + 20 * len(NAMES)  # the last: the attention on dev
    for event, (name, old) in zip(events, metrics.items()):
        stored_metrics = json.loads((world / "checkpoints" / name / "metrics.json").read_text("utf-8"))
        assert {**stored_metrics, "command": ""} == {**old, "command": ""}
        assert event["values"]["test"] == stored_metrics["test"]
    assert {name: [load(f).digest for f in folders] for name, folders in seed_folders(world).items()} == before


def test_what_is_kept_of_a_measurement_is_of_these_weights_and_these_rows(world, trained, tmp_path, monkeypatch):
    data, files = tmp_path / "data", []
    shutil.copytree(world / "data", data)

    def stopped(bundles, examples, report, kept):
        files.append(kept)
        raise KeyboardInterrupt

    def measured(name: str):
        folder = world / "checkpoints" / name
        with pytest.raises(KeyboardInterrupt):
            measure([load(folder)], read_config(folder / "config.json"), data, tmp_path / "runs", True)

    monkeypatch.setattr("triattn_core.training.scores.evaluate", stopped)
    measured("small-cbi")
    measured("small-bi")
    measured("small-cbi")
    with (data / "small" / "dev.jsonl").open("a") as file:
        file.write("\n")
    measured("small-cbi")
    assert files[0] == files[2] and len(set(files)) == 3


def test_one_more_seed_is_trained_and_nothing_else(world, trained, capsys):
    folder = world / "checkpoints" / "small-cbi"
    before, digest = (folder / "config.json").read_bytes(), load(folder).digest
    change(folder, training={"more_seeds": [3]})
    try:
        assert train(world, "small-cbi", more=("--resume", "--json")) == 0
        kinds = Counter(event["kind"] for event in read_events(capsys))
        assert kinds == {"step": 1, "metric": 3 + 1, "saved": 3}  # 18 steps, three epochs
        assert load(folder).digest == digest
        seeds = json.loads((folder / "metrics.json").read_text("utf-8"))["seeds"]
        assert [one["seed"] for one in seeds] == [1, 3]
    finally:
        (folder / "config.json").write_bytes(before)


def test_each_config_has_its_own_arithmetic(world, trained):
    _, ran = trained
    assert sorted(ran) == [("BiAttention", False), ("CBiAttention", False), ("TriAttention", True)]


def test_weights_trained_in_bfloat16_are_others(world, trained, tmp_path):
    """Twin of the above: the setting reaches the numbers, not the flag alone."""
    plain = tmp_path / "small-tri"
    shutil.copytree(world / "checkpoints" / "small-tri", plain)
    change(plain, training={"precision": "no"})
    shutil.copytree(world / "runs" / "features", tmp_path / "runs" / "features")
    config, cpu = read_config(plain / "config.json"), Accelerator(cpu=True)
    list(train_tan(config, plain, world / "data", tmp_path / "runs", False, cpu))
    weights, lower = (
        load_file(folder / "model.safetensors") for folder in (plain, world / "checkpoints" / "small-tri")
    )
    assert not torch.equal(weights["predict.weight"], lower["predict.weight"])
    torch.testing.assert_close(weights["predict.weight"], lower["predict.weight"], atol=0.05, rtol=0.05)


def test_sets_that_differ_are_measured_apart(world, trained, tmp_path, read):
    """Without a test set there are no numbers for it; each dev is read for those that name it."""
    group, sets = [], world / "data" / "small"
    shutil.copyfile(sets / "test.jsonl", sets / "same.jsonl")
    for name, data in (("small-bi", {"test": None}), ("small-cbi", {"dev": "small/same"}), ("small-tri", {})):
        shutil.copytree(world / "checkpoints" / name, tmp_path / name)
        change(tmp_path / name, data=data, training={"more_seeds": []})
        group.append((tmp_path / name, read_config(tmp_path / name / "config.json")))
    events = list(record_metrics(group, world / "data", world / "runs", False, "a command"))
    assert [event.values["checkpoint"] for event in events] == list(NAMES)
    assert sum(read) == 20 + (22 + 22) + (20 + 22) + 3 + (20 + 22 + 20)  # the last: the attention on dev
    metrics_list = [json.loads((folder / "metrics.json").read_text("utf-8")) for folder, _ in group]
    assert "test" not in metrics_list[0] and metrics_list[0]["dev"]["set"] == "small/dev"
    assert metrics_list[1]["dev"] | {"set": "small/test"} == metrics_list[1]["test"]
    assert (metrics_list[2]["dev"]["set"], metrics_list[2]["test"]["set"]) == ("small/dev", "small/test")
    assert metrics_list[2]["command"] == "a command"
    result = evaluate([load(tmp_path / "small-cbi")], pairs.read(world / "data" / "small" / "test.jsonl"))[0]
    assert metrics_list[1]["test"]["accuracy"] == result["metrics"]["accuracy"]


def test_a_test_set_without_labels_is_one_line(world, trained, tmp_path):
    shutil.copytree(world / "data", tmp_path / "data")
    (tmp_path / "data" / "small" / "test.jsonl").write_text('{"text_a": "who", "text_b": "what"}\n')
    folder = world / "checkpoints" / "small-bi"
    with pytest.raises(DataError, match="no row has a label") as caught:
        group = [(folder, read_config(folder / "config.json"))]
        list(record_metrics(group, tmp_path / "data", world / "runs", False, ""))
    assert "\n" not in str(caught.value)
