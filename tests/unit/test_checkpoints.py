"""From a config to a trained, saved, loaded, verified and explained checkpoint; and every way a folder can be bad."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.tiny import HEADS, make_world
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.checkpoint.verify import verify
from triattn_core.errors import CheckpointError, ConfigError, InputError
from triattn_core.inference.evaluate import evaluate, predictions
from triattn_core.inference.explain import explain
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import pairs, sentences
from triattn_core.trace import AttentionTrace


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Three trained checkpoints; TRIATTN_CHECKPOINTS points to it."""
    root = make_world(tmp_path_factory.mktemp("world"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        for mechanism in ("bi", "cbi", "tri"):
            assert train(root, mechanism) == 0
        yield root


def train(root: Path, mechanism: str, *more: str) -> int:
    where = ["--data", str(root / "data"), "--runs", str(root / "runs")]
    return main(["train", str(root / "checkpoints" / f"small-{mechanism}" / "config.json"), *where, *more])


@pytest.mark.parametrize("mechanism", ["bi", "cbi", "tri"])
def test_metrics_are_repeated_from_the_checkpoint(world, mechanism):
    bundle = load(f"small-{mechanism}")
    rows = pairs.read(world / "data" / "small" / "test.jsonl")
    result = evaluate([bundle], rows)[0]
    assert result["n"] == 22
    assert result["metrics"] == {name: bundle.metrics["test"][name] for name in ("accuracy", "f1")}
    assert all(check.good for check in verify(f"small-{mechanism}"))


def test_batches_say_what_one_by_one_says(world):
    bundle = load("small-tri")
    examples = list(pairs.read(world / "data" / "small" / "dev.jsonl"))
    for example, (probabilities,) in predictions([bundle], examples, size=7):
        prediction, _ = explain(bundle, example)
        np.testing.assert_allclose(prediction.probabilities, probabilities, atol=2e-6)


@pytest.mark.parametrize("mechanism", ["bi", "cbi", "tri"])
def test_a_trace_says_what_it_is(world, mechanism, tmp_path):
    example = pairs.Example("Who plays a movie?", "what film is not red ☃", 0)
    prediction, trace = explain(load(f"small-{mechanism}"), example)
    assert prediction.gold == 0 and abs(sum(prediction.probabilities) - 1) < 1e-6
    weight = trace.site("layer.1/b_over_a/weight")
    sizes = {"head": HEADS, "query": 6, "key": 6}
    assert weight.sizes == (sizes | {"context": 15} if mechanism == "tri" else sizes)
    np.testing.assert_allclose(weight.sum(weight.attrs["sums_over"].split(",")), 1, atol=1e-6)
    for axis in ("query", "key"):
        names = ("text", "start", "end", "token")
        for text, start, end, token in zip(*(weight[f"{axis}_{name}"].values for name in names)):
            assert trace.texts[text][start:end] == token.removeprefix("##")
    trace.save(tmp_path / "t.nc")
    again = AttentionTrace.load(tmp_path / "t.nc")
    assert again.texts == trace.texts and sorted(again.sites) == sorted(trace.sites)
    np.testing.assert_array_equal(again.site("layer.0/a_over_b/relevance"), trace.site("layer.0/a_over_b/relevance"))


def test_weights_are_the_softmax_of_the_relevance(world):
    _, trace = explain(load("small-tri"), pairs.Example("the big car", "a small car ?"))
    relevance = trace.site("layer.0/a_over_b/relevance").values.astype(np.float64)
    exponential = np.exp(relevance - relevance.max((2, 3), keepdims=True))
    expected = exponential / exponential.sum((2, 3), keepdims=True)
    np.testing.assert_allclose(trace.site("layer.0/a_over_b/weight"), expected, atol=1e-6)


def test_a_stopped_run_ends_with_the_same_weights(world, tmp_path):
    from accelerate import Accelerator

    from triattn_core.training.tan.trainer import train_tan

    folder, plan = world / "checkpoints" / "small-tri", read_config(world / "checkpoints" / "small-tri" / "config.json")
    target = tmp_path / "small-tri"
    shutil.copytree(world / "runs" / "features", tmp_path / "runs" / "features")
    events = train_tan(plan, target, world / "data", tmp_path / "runs", False, Accelerator(cpu=True))
    while next(events).kind != "saved":
        pass
    events.close()
    for _ in train_tan(plan, target, world / "data", tmp_path / "runs", True, Accelerator(cpu=True)):
        pass
    assert read_config(target / "config.json").digest == read_config(folder / "config.json").digest


def test_checkpoints_share_their_encoder(world):
    assert load("small-bi").encoder is load("small-tri").encoder


def test_an_encoder_is_found_by_folder(world):
    encoder, _ = load_encoder(str(world / "checkpoints" / "encoders" / "tiny"), "cpu")
    assert encoder.hidden == 24


def test_an_encoder_that_is_nowhere_is_named(world):
    with pytest.raises(CheckpointError, match="nobody/nothing"):
        load_encoder("nobody/nothing", "cpu")


def test_an_example_of_another_task_is_refused_in_one_line(world):
    with pytest.raises(InputError, match="small-tri takes an example of pairs, got sentences"):
        explain(load("small-tri"), sentences.Example("the big car"))


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [("", "x", "Sentence A is empty"), ("x", " \n", "Sentence B is empty"), ("\x00\x01", "x", "Sentence A has no")],
)
def test_an_empty_sentence_is_refused_in_one_line(world, a, b, message):
    with pytest.raises(InputError, match=message) as caught:
        explain(load("small-tri"), pairs.Example(a, b))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["x" * 100_000, "<script>alert(1)</script>" * 4000, "🙂👍🏽", "שלום עולם", "看电影", "a", "\u202ethe car\x07", "￿"],
)
def test_strange_text_gives_a_result(world, text):
    prediction, trace = explain(load("small-tri"), pairs.Example(text, text))
    assert np.isfinite(prediction.probabilities).all()
    assert trace.site("layer.0/a_over_b/weight").sizes["query"] <= 16
    assert len(text) < 1000 or any("cut after" in note for note in prediction.notes)


def damage(folder: Path, how: str) -> None:
    weights, path = folder / "model.safetensors", folder / "config.json"
    plan = json.loads(path.read_text())
    if how == "cut short":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif how == "pickle":
        weights.write_bytes(pickle.dumps({"a": 1}))
    elif how == "torch.save":
        torch.save({"a": torch.zeros(1)}, weights)
    elif how == "absent":
        weights.unlink()
    elif how == "digest":
        plan["digest"] = "0" * 64
    elif how == "unknown key":
        plan["model"]["hedas"] = 3
    elif how == "wrong shape":
        plan["model"]["layers"] = 3
        del plan["digest"]
    elif how == "encoder digest":
        plan["encoder_digest"] = "1" * 64
    elif how == "mechanism":
        plan["model"]["mechanism"] = "quad"
    elif how == "similarity":
        plan["model"]["similarity"] = "additiv"
    elif how == "heads":
        plan["model"]["heads"] = 5
    elif how == "seed twice":
        plan["training"]["more_seeds"] = [2, plan["training"]["seed"]]
    path.write_text("{" if how == "not JSON" else json.dumps(plan))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut short", "model.safetensors: damaged or cut short"),
        ("pickle", "model.safetensors: a pickle"),
        ("torch.save", "model.safetensors: a pickle"),
        ("absent", "model.safetensors: no such file"),
        ("digest", "digest"),
        ("encoder digest", "copy the encoder again"),
        ("unknown key", "unknown key 'model.hedas'; did you mean 'heads'"),
        ("wrong shape", "no tensor 'layers.1.context"),
        ("mechanism", "mechanism"),
        ("similarity", "did you mean 'additive'"),
        ("heads", "heads"),
        ("seed twice", "more_seeds must differ"),
        ("not JSON", "not a JSON file"),
    ],
)
def test_a_bad_folder_is_refused_in_one_line(world, tmp_path, capsys, how, words):
    folder = tmp_path / "bad"
    shutil.copytree(world / "checkpoints" / "small-tri", folder)
    damage(folder, how)
    with pytest.raises((CheckpointError, ConfigError)) as caught:
        load(folder)
    assert words in str(caught.value) and str(folder) in str(caught.value) or "encoder" in how
    assert "\n" not in str(caught.value)
    assert main(["verify", str(folder)]) == 1
    assert len(capsys.readouterr().out.strip().splitlines()) == 1


def test_a_damaged_folder_does_not_hide_the_others(world):
    broken = world / "checkpoints" / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("[1")
    try:
        entries = {entry.name: entry for entry in list_checkpoints()}
        assert entries["broken"].problem and entries["small-tri"].problem is None
    finally:
        shutil.rmtree(broken)


def test_the_command_line(world, tmp_path, capsys):
    row = tmp_path / "row.json"
    row.write_text(json.dumps({"text_a": "the car", "text_b": "a red car"}))
    assert main(["explain", "small-tri", str(row), "--json", "--out", str(tmp_path / "t.nc")]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["meta"]["checkpoint"] == "small-tri" and (tmp_path / "t.nc").is_file()
    assert main(["evaluate", "small-bi", str(world / "data" / "small" / "dev.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == {
        name: load("small-bi").metrics["dev"][name] for name in ("accuracy", "f1")
    }
    assert main(["list", "--json"]) == 0
    assert [record["name"] for record in json.loads(capsys.readouterr().out)] == ["small-bi", "small-cbi", "small-tri"]
    assert main(["verify", "small-tri"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [["explain", "small-trii", "x.json"], ["evaluate", "small-tri", "nothing.jsonl"], ["train", "nothing.json"]],
)
def test_the_command_line_says_one_line_on_bad_input(world, capsys, arguments):
    assert main(arguments) == 1
    message = capsys.readouterr().err.strip()
    assert message.startswith("triattn: ") and len(message.splitlines()) == 1
