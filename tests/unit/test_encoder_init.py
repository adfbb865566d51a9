"""What an encoder starts from: checked weights, or nothing but the characters of its training text."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file

from tests.support.encoder_recipe import write
from tests.support.tiny import mark
from triattn_core.__main__ import main
from triattn_core.errors import ConfigError
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import pairs
from triattn_core.text.roles import Limits
from triattn_core.text.tokenizer import SPECIAL, Tokenizer
from triattn_core.training.encoder import pair_batches as encoder_rows
from triattn_core.training.encoder import post_training
from triattn_core.training.encoder.encoder_init import start_folder, start_model
from triattn_core.training.model_card import encoder_card

LETTERS = ("看电影什么可以", "下载浏览器人大红")  # of pairs of label 0 and 1
SIZES = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 48}
SIZES |= {"type_vocab_size": 4}  # of segments: the last two for tokens that stand in both texts
WEIGHTS = {1: 0.9, 2: 0.2}  # of the word objective, by stage
FIRST = 24  # steps of the first stage


def test_start_weights_are_checked_before_use(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"anything")
    digest = "5faa82c6c6bc30cb5a3e2a93ba1f2b23b6f5ac0f9a2a1d5d1a7b6d6f1a0a0a0a"
    with pytest.raises(ConfigError, match=f"expected SHA-256 {digest}, got "):
        start_folder({"path": str(tmp_path), "sha256": digest}, tmp_path, tmp_path)
    with pytest.raises(ConfigError, match="pip install -r requirements-train.txt"):
        start_folder({"package": "a_package_nobody_has_heard_of", "sha256": digest}, tmp_path, tmp_path)


def make_recipe(seed: int = 1, **changes) -> dict:
    """Two stages over the same rows; the vocabulary is of two sets."""
    start = {
        "name": "nothing: random weights",
        "had_seen": [],
        "config": SIZES | {"max_position_embeddings": 40, "initializer_range": 0.2},
        "vocabulary": {"data": ["zh/train", "zh/more"], "least": 2},
    }
    stage = {"data": ["zh/train"], "rate": 3e-3}
    first = {**stage, "epochs": 4, "mask": 0.15, "word_weight": WEIGHTS[1], "match": False}
    return {
        "kind": "encoder",
        "start": start,
        "stages": [first, {**stage, "epochs": 3, "mask": 0.08}],
        "dev": "zh/dev",
        "word_weight": WEIGHTS[2],
        "swap": 0.5,
        "batch": 8,
        "max_tokens": 16,
        "precision": "no",
        "seed": seed,
        "save_every": 50,
    } | changes


def drawn(count: int, seed: int) -> list[tuple[str, str, int]]:
    """Pairs of label 1 are written in other characters than those of label 0."""
    draw = random.Random(seed)
    labels = [number % 2 for number in range(count)]
    return [(*("".join(draw.choices(LETTERS[label], k=draw.randint(2, 6))) for _ in "ab"), label) for label in labels]


def make_folder(root: Path, name: str, recipe: dict) -> Path:
    folder = root / "checkpoints" / "encoders" / name
    folder.mkdir(parents=True)
    (folder / "recipe.json").write_text(json.dumps(recipe), "utf-8")
    return folder


def train(root: Path, folder: Path, *more: str) -> int:
    where = ["--data", str(root / "data"), "--runs", str(root / "runs")]
    return main(["train", str(folder / "recipe.json"), *where, "--json", *more])


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Chinese pairs; two marked training rows and a rare character hold what no vocabulary should."""
    root = tmp_path_factory.mktemp("world")
    rows = drawn(48, 1) + [("禁禁", "禁", 1), ("重重", "重", 0), ("稀看", "看影", 0)]
    write(root / "data" / "zh" / "train.jsonl", rows[:50])
    mark(root / "data" / "zh" / "train.jsonl", in_eval=(48,), dup=(49,))
    write(root / "data" / "zh" / "more.jsonl", [("ＡＡ", "新 新", None), *rows[50:]])
    write(root / "data" / "zh" / "dev.jsonl", drawn(24, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


# --- the start ---


def start(world: Path, folder: Path, **sizes) -> Path:
    recipe = make_recipe()["start"]
    folder.mkdir(exist_ok=True)
    return start_folder({**recipe, "config": recipe["config"] | sizes}, folder, world / "data")


def test_a_start_from_nothing_stands_beside_its_recipe(world, tmp_path):
    assert start(world, tmp_path) == tmp_path
    tokenizer = Tokenizer(tmp_path / "tokenizer.json")
    known = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    assert set(known) == {*SPECIAL.values(), *"".join(LETTERS), "a", "新"}  # none of rows not trained on, none rare
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    assert config["vocab_size"] == len(tokenizer) == len(known)
    assert {name: config[name] for name in SIZES} == SIZES
    assert config["architectures"] == ["BertModel"]
    assert not (tmp_path / "model.safetensors").exists()


def test_the_same_start_is_the_same_files(world, tmp_path):
    first, second = ((start(world, tmp_path / name)) for name in "ab")
    for name in ("config.json", "tokenizer.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    before = (first / "config.json").read_bytes()
    start(world, first)
    assert (first / "config.json").read_bytes() == before
    assert start(world, tmp_path / "c", hidden_size=12).joinpath("config.json").read_bytes() != before


def test_weights_that_start_from_nothing_follow_from_the_seed(world, tmp_path):
    folder, drawn = start(world, tmp_path), []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(start_model(make_recipe()["start"], folder).state_dict())
    assert len(drawn[0]) > 50
    assert all(torch.equal(tensor, drawn[1][name]) for name, tensor in drawn[0].items())
    weights = [name for name, tensor in drawn[0].items() if tensor.ndim == 2]
    assert len(weights) > 15 and not any(torch.equal(drawn[0][name], drawn[2][name]) for name in weights)


@pytest.mark.parametrize("asked, expected", [(None, 0.1), (0.0, 0.0), (0.3, 0.3)])
def test_the_dropout_of_the_attention_may_be_another(world, tmp_path, asked, expected):
    folder = start(world, tmp_path, attention_probs_dropout_prob=0.1)
    model = start_model(make_recipe()["start"], folder, asked)
    shares = [layer.attention.self.dropout.p for layer in model.bert.encoder.layer]
    assert shares and set(shares) == {expected}


# --- from a recipe to an encoder ---


@pytest.fixture(scope="module")
def encoder_folder(world) -> Path:
    """The folder of an encoder, trained by the command line."""
    folder = make_folder(world, "characters", make_recipe())
    assert train(world, folder) == 0
    return folder


def log(world: Path, name: str = "characters") -> list[dict]:
    return [json.loads(line) for line in (world / "runs" / name / "events.jsonl").read_text("utf-8").splitlines()]


def test_the_encoder_that_was_made_is_loaded_and_reads_characters(encoder_folder):
    metrics = json.loads((encoder_folder / "metrics.json").read_text("utf-8"))
    loaded, tokenizer = load_encoder("characters", "cpu", expected=metrics["digest"])
    assert loaded.hidden == SIZES["hidden_size"] and loaded.joint.config.num_hidden_layers == 3
    assert loaded.joint.embeddings.word_embeddings.num_embeddings == len(tokenizer)
    ((roles,),) = pairs.roles([pairs.Example("看Ａ驫", "电 影")], tokenizer, Limits(16))
    assert roles.query.strings == ("看", "Ａ", "驫") and roles.key.strings == ("电", "影")
    assert roles.notes == ("Sentence A: the model does not know 驫.",)
    ((roles,),) = pairs.roles([pairs.Example("看电", "影看")], tokenizer, Limits(16))
    assert roles.context.types == (0, 2, 0, 0, 1, 3, 1)
    stored = load_file(encoder_folder / "model.safetensors")
    assert not any(name.startswith(("cls", "bert.")) for name in stored)
    assert all(tensor.isfinite().all() for tensor in stored.values())
    assert (metrics["start"], metrics["start_had_seen"]) == ("nothing: random weights", [])
    assert metrics["history"][-1]["values"]["dev accuracy"] > 0.8


def test_its_card_says_how_it_was_made(encoder_folder):
    assert (encoder_folder / "README.md").read_text("utf-8") == encoder_card(encoder_folder)
    card_text = " ".join(encoder_card(encoder_folder).split())
    metrics = json.loads((encoder_folder / "metrics.json").read_text("utf-8"))
    for words in (
        "# characters",
        "A 3-layer BERT (hidden size 24, 2 heads), half precision. Start weights: nothing: random weights.",
        "A token is a character: the 17 that occur at least 2 times in `zh/train`, `zh/more`",
        "- `zh/train`: 4 epochs; 15% of the tokens hidden (weight 0.9)",
        "- `zh/train`: 3 epochs; 8% of the tokens hidden",
        "What the start weights had seen before: Nothing: the weights were drawn at random.",
        f"reached {100 * metrics['history'][-1]['values']['dev accuracy']:.2f} % on `zh/dev`",
        metrics["digest"],
    ):
        assert words in card_text


def test_each_stage_weighs_the_words_in_its_own_way(world, encoder_folder):
    steps = {event["step"]: event["values"] for event in log(world) if event["kind"] == "step"}
    assert list(steps) == [20, 40, 42]
    for step, losses in steps.items():
        weight = WEIGHTS[1] if step <= FIRST else WEIGHTS[2]
        assert losses["word"] > 0.2  # twin: the other weight would give another loss
        assert losses["loss"] == pytest.approx(losses["pair"] + weight * losses["word"], abs=3e-4)


def test_the_same_recipe_gives_the_same_encoder_and_another_seed_another(world, encoder_folder):
    digests = []
    for name, seed in (("again", 1), ("other", 2)):
        torch.manual_seed(100)  # whoever has drawn before
        folder = make_folder(world, name, make_recipe(seed))
        assert train(world, folder) == 0
        digests.append(json.loads((folder / "metrics.json").read_text("utf-8"))["digest"])
    wanted = json.loads((encoder_folder / "metrics.json").read_text("utf-8"))["digest"]
    assert digests[0] == wanted != digests[1]


def test_a_run_from_nothing_that_was_left_resumes_to_the_same_encoder(world, encoder_folder):
    folder = make_folder(world, "left", make_recipe())
    runs = world / "runs" / "left"
    for event in post_training.post_train(make_recipe(), world / "data", runs, False, Accelerator(cpu=True)):
        if (event.kind, event.step) == ("saved", 12):
            break
    torch.manual_seed(200)
    assert train(world, folder, "--resume") == 0
    assert (folder / "model.safetensors").read_bytes() == (encoder_folder / "model.safetensors").read_bytes()
    steps = [event["step"] for event in log(world, "left") if event["kind"] == "metric"]
    assert steps == [event["step"] for event in log(world) if event["kind"] == "metric"]
    assert all(later > earlier for earlier, later in pairwise(steps)) and len(steps) == 7


@pytest.mark.parametrize(("share", "some"), [(None, {False}), (0.0, {False}), (0.5, {False, True}), (1.0, {True})])
def test_pairs_are_turned_in_training_as_the_recipe_says(world, encoder_folder, tmp_path, monkeypatch, share, some):
    recipe = make_recipe(swap=share, save_every=1)
    if share is None:
        del recipe["swap"]
    seen, collate = [], post_training.collate
    monkeypatch.setattr(post_training, "collate", lambda rows, *more: seen.extend(rows) or collate(rows, *more))
    next(post_training.post_train(recipe, world / "data", tmp_path / "run", False, Accelerator(cpu=True)))
    tokenizer = Tokenizer(tmp_path / "run.start" / "tokenizer.json")
    whole = encoder_rows.read_pairs([world / "data" / "zh" / "train.jsonl"], tokenizer, 16)
    order = {(row.a, row.b): row.label for row in whole}
    assert len(seen) == 8
    assert {(row.a, row.b) not in order for row in seen} == some
    assert all(row.label in (order.get((row.a, row.b)), order.get((row.b, row.a))) for row in seen)
