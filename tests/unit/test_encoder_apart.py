"""The objective of an encoder that reads each text alone: its loss against NumPy, and a small run that learns."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from tests.support.encoder_recipe import make_start, train, weights, write
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.encoder import post_training, separate_training
from triattn_core.training.encoder.pair_batches import Pair, read_pairs

pytestmark = pytest.mark.slow

TOPICS = ("red", "blue", "film", "car")


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """Pairs whose second text belongs to the first where it begins with the same word."""
    root = tmp_path_factory.mktemp("world")
    draw = random.Random(8)

    def row(number: int) -> tuple[str, str, int]:
        topic, label = draw.choice(TOPICS), number % 2
        other = topic if label else draw.choice([word for word in TOPICS if word != topic])
        return f"{topic} is big", f"{other} what", label

    write(root / "data" / "small" / "train.jsonl", [row(n) for n in range(96)])
    write(root / "data" / "small" / "dev.jsonl", [row(n) for n in range(24)])
    stage = {"data": ["small/train"], "epochs": 8, "mask": 0.0, "rate": 1e-2}
    recipe = {
        "kind": "encoder",
        "objective": "apart",
        "start": make_start(root / "start"),
        "stages": [stage],
        "dev": "small/dev",
        "word_weight": 0.0,
        "batch": 8,
        "max_tokens": 16,
        "precision": "no",
        "seed": 1,
    }
    (root / "recipe.json").write_text(json.dumps(recipe), "utf-8")
    return root


def module_of(world: Path) -> separate_training.ApartTraining:
    return separate_training.ApartTraining(transformers.BertForPreTraining.from_pretrained(world / "start")).eval()


def test_the_loss_is_that_of_the_labels_and_of_the_batch(world):
    tokenizer, module = Tokenizer(world / "start" / "tokenizer.json"), module_of(world)
    rows = [Pair((5, 6, 7), (8, 9), 1), Pair((6,), (5, 5, 9, 7), 0), Pair((9, 8), (6, 7), 1)]
    with torch.no_grad():
        loss = separate_training.loss(module, [[row] for row in rows], tokenizer, torch.device("cpu")).item()

    def vector(ids: tuple[int, ...]) -> np.ndarray:
        ids = torch.tensor([[tokenizer.special["cls"], *ids, tokenizer.special["sep"]]])
        with torch.no_grad():
            return module.bert.bert(input_ids=ids).last_hidden_state[0].double().numpy().mean(0)

    u, v = ([vector(row.a) for row in rows], [vector(row.b) for row in rows])
    cosine = np.array([[x @ y / np.linalg.norm(x) / np.linalg.norm(y) for y in v] for x in u])
    a, b = module.line.detach().double().numpy()
    total = 0.0
    for i, row in enumerate(rows):
        chance = 1 / (1 + np.exp(-(a * cosine[i, i] + b)))
        total -= np.log(chance if row.label else 1 - chance) / len(rows)
    for i in (0, 2):
        scores = np.exp(separate_training.SCALE * cosine[i])
        total -= np.log(scores[i] / scores.sum()) / 2
    assert loss == pytest.approx(total, rel=1e-4)


def test_a_passage_that_options_share_is_encoded_once_and_the_loss_stays(world, monkeypatch):
    tokenizer, module = Tokenizer(world / "start" / "tokenizer.json"), module_of(world)
    options = [Pair((5, 6, 7), (8, 9), 0), Pair((5, 6, 7), (5, 9), 1), Pair((5, 6, 7), (7,), 0)]
    single, encoded = [Pair((9, 8), (6, 7), 1)], []

    def loss() -> float:
        with torch.no_grad():
            return separate_training.loss(module, [options, single], tokenizer, torch.device("cpu")).item()

    seen = module.vectors
    monkeypatch.setattr(module, "vectors", lambda ids, keep: encoded.append(len(ids)) or seen(ids, keep))
    first_loss = loss()
    assert encoded == [2, 4]
    monkeypatch.setattr(separate_training, "distinct_texts", lambda texts: (texts, torch.arange(len(texts))))
    assert first_loss == pytest.approx(loss(), rel=1e-6)
    assert encoded[2:] == [4, 4]


def test_what_stands_beside_a_text_in_the_batch_does_not_change_its_vector(world):
    tokenizer, module = Tokenizer(world / "start" / "tokenizer.json"), module_of(world)
    with torch.no_grad():
        alone = module.vectors(*separate_training.collate_texts([(5, 6)], tokenizer))
        beside = module.vectors(*separate_training.collate_texts([(5, 6), (5, 6, 7, 8, 9)], tokenizer))
    torch.testing.assert_close(alone[0], beside[0])


def test_a_small_run_learns_and_the_encoder_is_written_without_a_pair_head(world, tmp_path):
    recipe = json.loads((world / "recipe.json").read_text("utf-8"))
    tokenizer, module = Tokenizer(world / "start" / "tokenizer.json"), module_of(world)
    dev = [[row] for row in read_pairs([world / "data" / "small" / "dev.jsonl"], tokenizer, 16, training=False)]
    before = separate_training.accuracy(module, dev, tokenizer)
    train(recipe, world, tmp_path / "run")
    module.load_state_dict(weights(tmp_path / "run"), strict=False)
    assert separate_training.accuracy(module, dev, tokenizer) > max(0.9, before)
    folder = tmp_path / "mine"
    folder.mkdir()
    post_training.finish_encoder(recipe, folder, world / "data", tmp_path / "run", "a machine", "a command")
    assert {path.name for path in folder.iterdir()} == {
        "config.json", "tokenizer.json", "model.safetensors", "metrics.json"
    }  # fmt: skip


def test_all_that_learns_has_a_gradient(world):
    """Several processes wait for the gradient of each parameter that learns."""
    tokenizer, module = Tokenizer(world / "start" / "tokenizer.json"), module_of(world)
    rows = [Pair((5, 6, 7), (8, 9), 1), Pair((6,), (5, 5, 9, 7), 0)]
    separate_training.loss(module, [[row] for row in rows], tokenizer, torch.device("cpu")).backward()
    learns = {name for name, parameter in module.named_parameters() if parameter.requires_grad}
    assert learns == {name for name, parameter in module.named_parameters() if parameter.grad is not None}
    assert any("layer.0.output" in name for name in learns)
