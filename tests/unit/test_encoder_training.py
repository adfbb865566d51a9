"""Post-training of an encoder: a whole small run, from start weights to a folder."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
import transformers
from torch.nn.functional import cross_entropy

from tests.support.encoder_recipe import (
    MASK,
    RATE,
    make_start,
    make_world,
    mined_pairs,
    read,
    recipe,
    train,
    weights,
)
from tests.support.tiny import HEADS, HIDDEN
from triattn_core.errors import ConfigError
from triattn_core.models.encoders import load_encoder
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import loop
from triattn_core.training.encoder import pair_batches as encoder_rows
from triattn_core.training.encoder import post_training
from triattn_core.training.encoder.encoder_init import start_model

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def whole(world) -> tuple[Path, list[loop.Event]]:
    """A run from its start to its end, and what it said."""
    torch.manual_seed(100)
    return world / "whole", train(recipe(world), world, world / "whole")


@pytest.fixture
def tokenizer(world) -> Tokenizer:
    return Tokenizer(world / "start" / "tokenizer.json")


def test_a_run_has_its_stages_and_says_so(world, whole, tokenizer):
    _, events = whole
    first = -(-(48 + len(read(world, "positives", tokenizer)) + len(mined_pairs(world, tokenizer))) // 8)
    assert first < 19 < 2 * first
    metrics = {event.step: event.values["dev accuracy"] for event in events if event.kind == "metric"}
    assert list(metrics) == [first, 19, 25, 31, 37]  # 48 rows are 6 batches
    steps = {event.step: event.values for event in events if event.kind == "step"}
    assert list(steps) == [20, 37]
    assert all(math.isfinite(losses["loss"]) for losses in steps.values())
    assert "word" not in steps[20]  # the second stage hides nothing


def test_both_objectives_are_learned_and_every_tensor_moves(world, whole, tokenizer):
    module = post_training.PostTraining(transformers.BertForPreTraining.from_pretrained(world / "start")).eval()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    rows = read(world, "train", tokenizer)
    labels = torch.tensor([row.label for row in rows])
    ids, types, keep = encoder_rows.collate(rows, tokenizer)
    torch.manual_seed(3)
    masked_ids, hidden = encoder_rows.mask(ids, tokenizer, MASK)
    losses = []
    for _ in range(2):
        with torch.no_grad():
            words, relation = module(masked_ids, types, keep, hidden)
        losses.append([cross_entropy(words, ids[hidden]).item(), cross_entropy(relation, labels).item()])
        module.load_state_dict(weights(whole[0]), strict=False)
    assert losses[1][0] < 0.8 * losses[0][0]
    assert losses[1][1] < 0.6 * losses[0][1]
    assert post_training.accuracy(module, [[row] for row in read(world, "dev", tokenizer)], tokenizer) > 0.8
    for name, tensor in weights(whole[0]).items():
        assert tensor.isfinite().all()
        assert not torch.equal(tensor, before[name]), name


@pytest.mark.parametrize("until", [5, 19])
def test_a_run_that_was_left_resumes_to_the_same_weights(world, whole, tmp_path, until):
    train(recipe(world), world, tmp_path / "run", until)
    torch.manual_seed(200)
    rest = train(recipe(world), world, tmp_path / "run", resume=True)
    assert min(event.step for event in rest) > until
    actual, wanted = weights(tmp_path / "run"), weights(whole[0])
    assert actual.keys() == wanted.keys()
    for name in wanted:
        assert torch.equal(actual[name], wanted[name]), name


def test_a_changed_recipe_is_not_resumed(world, tmp_path):
    train(recipe(world), world, tmp_path / "run", until=5)
    changed = recipe(world)
    changed["stages"][0]["rate"] = 2 * RATE
    with pytest.raises(ConfigError, match="recipe"):
        train(changed, world, tmp_path / "run", resume=True)


def test_heads_that_the_start_lacks_follow_from_the_seed(world, tmp_path):
    """Sentence encoders come without the heads of pre-training: these begin at random, yet always alike."""
    given = recipe(world) | {"start": make_start(tmp_path / "start", heads=False)}
    given["stages"] = given["stages"][1:]
    runs = []
    for number, seed in enumerate((1, 1, 2)):
        torch.manual_seed(number)
        train(given | {"seed": seed}, world, tmp_path / str(number), until=5)
        runs.append(weights(tmp_path / str(number)))
    assert all(torch.equal(runs[0][name], runs[1][name]) for name in runs[0])
    assert not torch.equal(runs[0]["bert.cls.seq_relationship.weight"], runs[2]["bert.cls.seq_relationship.weight"])


def test_the_finished_encoder_can_be_loaded_by_name(world, whole, tmp_path, monkeypatch):
    run, events = whole
    folder = tmp_path / "encoders" / "mine"
    folder.mkdir(parents=True)
    post_training.finish_encoder(recipe(world), folder, world / "data", run, "a machine", "a command")
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path))
    loaded, tokenizer = load_encoder("mine", "cpu", expected=metrics["digest"])
    assert loaded.hidden == HIDDEN
    assert loaded.joint.config.num_attention_heads == HEADS
    trained = weights(run)
    for name, tensor in loaded.joint.state_dict().items():
        if not name.endswith("position_ids"):
            assert torch.equal(tensor, trained[f"bert.bert.{name}"].half().float()), name
    assert len(tokenizer) == len(Tokenizer(world / "start" / "tokenizer.json"))
    onward = start_model({"encoder": "mine"}, folder)  # a further training begins with the pair head too
    for name, tensor in onward.cls.seq_relationship.state_dict().items():
        assert torch.equal(tensor, trained[f"bert.cls.seq_relationship.{name}"].half().float()), name
    assert (metrics["start"], metrics["machine"], metrics["command"]) == ("tiny", "a machine", "a command")
    assert metrics["seed"] == 1
    assert metrics["start_had_seen"] == recipe(world)["start"]["had_seen"]
    metric_events = [(event.step, event.values) for event in events if event.kind == "metric"]
    assert [(event["step"], event["values"]) for event in metrics["history"]] == metric_events
    assert {path.name for path in folder.iterdir()} >= {"config.json", "tokenizer.json", "model.safetensors"}
