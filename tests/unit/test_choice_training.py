"""Training on dialogues and passages: what is stored is what the encoder gives, and a small run learns and repeats."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.choice_rows import LIMITS, dialogue_row, reading_row
from tests.support.tiny import HEADS, config, make_encoder
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import explain
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import TASKS
from triattn_core.training.tan.features import encode


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("world")
    encoder = root / "checkpoints" / "encoders" / "tiny"
    make_encoder(encoder)
    (encoder / "metrics.json").write_text('{"start": "nothing", "start_had_seen": []}')
    for split, count, seed in (("train", 60, 1), ("dev", 20, 2), ("test", 12, 3)):
        draw = random.Random(seed)
        rows = {
            "talk": [dialogue_row(draw, split == "train") for _ in range(count)],
            "text": [reading_row(draw) for _ in range(count)],
        }
        for name, some in rows.items():
            path = root / "data" / name / f"{split}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in some), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


def make(world: Path, task: str, mechanism: str, **data) -> Path:
    folder = world / "checkpoints" / f"{task}-{mechanism}-{len(data)}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    plan = config(mechanism) | {"task": task, "max_tokens": LIMITS.tokens, "cells": LIMITS.cells}
    name = {"dialogue": "talk", "reading": "text"}[task]
    plan["data"] = {"train": [f"{name}/train"], "dev": f"{name}/dev", "test": f"{name}/test", **data}
    plan["training"] = {**plan["training"], "epochs": 2}
    (folder / "config.json").write_text(json.dumps(plan), "utf-8")
    return folder


@pytest.mark.parametrize("task", ["dialogue", "reading"])
def test_features_are_what_the_encoder_gives(world, tmp_path, task):
    """Over windows of a few examples, and for examples with one option, or with fewer than others."""
    encoder, tokenizer = load_encoder("tiny", "cpu")
    room, name = TASKS[task], {"dialogue": "talk", "reading": "text"}[task]
    examples = [*room.read(world / "data" / name / "dev.jsonl"), *room.read(world / "data" / name / "train.jsonl")][:40]
    parts = (examples[start : start + 7] for start in range(0, 40, 7))
    windows = ((room.roles(part, tokenizer, LIMITS), [one.label for one in part]) for part in parts)
    features = encode(tmp_path / "found", encoder, tokenizer, windows, 40)
    assert len(features) == 40 and features.labels.tolist() == [example.label for example in examples]
    chosen = np.array([3, 17, 22, 39])
    encoded, counts, labels = features.batch(chosen, "cpu")
    rows = [
        row for example_roles in room.roles([examples[i] for i in chosen], tokenizer, LIMITS) for row in example_roles
    ]
    assert sum(counts) == len(rows) and labels.tolist() == [examples[i].label for i in chosen]
    with torch.inference_mode():
        expected = encoder(collate(rows, tokenizer))
    for role in ("query", "key", "context"):
        ours, theirs = getattr(encoded, role), getattr(expected, role)
        assert torch.equal(ours.keep, theirs.keep)
        for which in ("vectors", "own")[: 1 + (role != "context")]:
            torch.testing.assert_close(
                getattr(ours, which)[ours.keep], getattr(theirs, which)[ours.keep], rtol=0, atol=2e-3
            )
        assert features.batch(chosen, "cpu", with_own=False)[0].query.own is None
    torch.testing.assert_close(encoded.pooled, expected.pooled, rtol=0, atol=2e-3)
    sizes = [max(len(getattr(row, role).runs) for row in rows[: counts[0]]) for role in ("query", "key")]
    assert features.lengths[3].tolist() == sizes


@pytest.mark.parametrize(("task", "mechanism"), [("dialogue", "tri"), ("dialogue", "cbi"), ("reading", "tri")])
def test_a_run_is_measured_as_evaluate_measures_it(world, capsys, task, mechanism):
    folder = make(world, task, mechanism)
    where = ["--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(["train", str(folder / "config.json"), *where, "--json"]) == 0
    capsys.readouterr()
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    name = {"dialogue": "talk", "reading": "text"}[task]
    for split in ("dev", "test"):
        assert main(["evaluate", str(folder), str(world / "data" / name / f"{split}.jsonl"), "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        split_metrics = metrics[split]
        assert (
            result["metrics"] == {key: split_metrics[key] for key in result["metrics"]}
            and result["n"] == split_metrics["n"]
        )
        assert 0 < split_metrics["chance"] < 60
    assert set(result["metrics"]) == (
        {"R4@1", "R4@2"} if task == "dialogue" else {"accuracy", "accuracy_middle", "accuracy_high"}
    )
    assert main(["verify", str(folder)]) == 0


def test_only_the_rows_that_are_asked_for_are_trained_on(world):
    folder = make(world, "reading", "bi", where={"level": "middle"})
    where = ["--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(["train", str(folder / "config.json"), *where, "--json"]) == 0
    labels = sorted((world / "runs" / "features").glob("*/text-train*middle*/labels.npy"))
    whole = list(TASKS["reading"].read(world / "data" / "text" / "train.jsonl"))
    assert len(labels) == 1
    assert np.load(labels[0]).tolist() == [one.label for one in whole if one.level == "middle"]


def test_rows_that_nobody_asks_for_are_named(world, capsys):
    folder = make(world, "reading", "bi", where={"levell": "middle"})
    where = ["--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(["train", str(folder / "config.json"), *where]) == 1
    assert "no row with levell 'middle' has a label: nothing to train on" in capsys.readouterr().err


def test_labels_that_take_turns_are_not_all_left_out_but_one(world, capsys):
    """True and false response one after the other: every second row would teach that all is true."""
    rows = [dialogue_row(random.Random(seed), single=True) for seed in range(40)]
    sides = [[row for row in rows if row["label"] == label] for label in (1, 0)]
    content = "".join(json.dumps(row) + "\n" for two in zip(*sides) for row in two)
    (world / "data" / "talk" / "turns.jsonl").write_text(content)
    folder = make(world, "dialogue", "bi", train=["talk/turns"], every=2)
    where = ["--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(["train", str(folder / "config.json"), *where]) == 1
    assert "data.every 2 leaves rows of one label alone: take another number" in capsys.readouterr().err


@torch.no_grad()
def test_the_option_that_is_shown_is_the_one_that_is_asked_for(world):
    bundle = load(world / "checkpoints" / "reading-tri-0")
    example = next(one for one in TASKS["reading"].read(world / "data" / "text" / "dev.jsonl") if len(one.options) > 2)
    best, _ = explain(bundle, example)
    assert best.option == best.best and len(best.probabilities) == len(example.options)
    for option, text in enumerate(example.options):
        prediction, trace = explain(bundle, example, option=option)
        assert prediction.probabilities == pytest.approx(best.probabilities, abs=1e-5) and prediction.option == option
        again, same = explain(bundle, example, option=option, known_scores=best.probabilities)
        assert again.probabilities == best.probabilities and (again.option, again.best) == (option, best.best)
        for site, array in trace.sites.items():
            np.testing.assert_array_equal(same.site(site), array)
        assert trace.texts["option"] == text and trace.meta["option"] == option
        array = trace.site("layer.0/a_over_b/weight")
        assert array.sizes["head"] == HEADS and array.sizes["context"] <= 14
        np.testing.assert_allclose(array.sum(["key", "context"]), 1, atol=1e-5)
        for axis in ("query", "key", "context"):
            assert int(array[f"{axis}_tokens"].sum()) >= array.sizes[axis]
            for name, start, end, token in zip(
                *(array[f"{axis}_{what}"].values for what in ("text", "start", "end", "token"))
            ):
                if name:
                    assert str(token).removeprefix("##") == trace.texts[str(name)][start:end]
