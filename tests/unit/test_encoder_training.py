"""Post-training of an encoder: what is hidden, what is mined, and a whole small run from start weights to a folder."""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForPreTraining

from tests.support.tiny import HEADS, HIDDEN, WORDS, make_encoder, mark
from triattn_core.errors import ConfigError
from triattn_core.models.encoders import load_encoder
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import loop
from triattn_core.training.encoder import post_training, schedule
from triattn_core.training.encoder import rows as encoder_rows
from triattn_core.training.encoder.encoder_init import start_model

pytestmark = pytest.mark.slow

MASK, RATE = 0.2, 1e-2


def make_start(folder: Path, heads: bool = True) -> dict:
    """A BERT with or without the heads of its own training, and the words far enough apart to be mined."""
    make_encoder(folder)
    config = BertConfig.from_pretrained(folder, architectures=None, initializer_range=0.2)
    torch.manual_seed(7)
    bert = BertForPreTraining(config)
    with torch.no_grad():
        bert.bert.embeddings.word_embeddings.weight.mul_(3)
    (bert if heads else bert.bert).save_pretrained(folder)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    seen = [{"name": "nothing", "what": "random weights"}]
    return {"path": str(folder), "sha256": digest, "name": "tiny", "had_seen": seen}


def sentence(draw: random.Random, *first: str) -> str:
    words = [word for word in WORDS[:-3] if word != "red"]
    return " ".join([*first, *draw.choices(words, k=draw.randint(2, 5))])


def write(path: Path, rows: list[tuple[str, str, int]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(dict(zip(("text_a", "text_b", "label"), row))) + "\n" for row in rows]
    path.write_text("".join(lines), "utf-8")


def make_sets(folder: Path) -> None:
    """`train`, `dev`: B begins with "red" in rows of label 1.  `positives`: chains of three, joined by `train`."""
    draw = random.Random(4)
    rows = [(sentence(draw), sentence(draw, *["red"] * (n % 2)), n % 2) for n in range(68)]
    chains = [[sentence(draw), sentence(draw, "red"), sentence(draw, "red")] for _ in range(14)]
    rows[1:15:2] = [(one[0], other[2], 1) for one, other in zip(chains[::2], chains[1::2])]
    write(folder / "train.jsonl", rows[:48])
    write(folder / "dev.jsonl", rows[48:])
    write(folder / "positives.jsonl", [(*pair, 1) for chain in chains for pair in zip(chain, chain[1:])])


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("world")
    make_sets(root / "data" / "small")
    (root / "recipe.json").write_text(json.dumps(make_recipe(make_start(root / "start"))), "utf-8")
    return root


def make_recipe(start: dict) -> dict:
    """Two stages: with mined negatives and cut short in its second epoch; then three whole epochs."""
    first = {"data": ["small/train"], "mine": "small/positives", "epochs": 2, "mask": MASK, "rate": RATE}
    second = {"data": ["small/train"], "epochs": 3, "mask": 0.0, "rate": RATE}
    return {
        "kind": "encoder",
        "start": start,
        "stages": [{**first, "stop_after": 19}, second],
        "dev": "small/dev",
        "word_weight": 0.2,
        "batch": 8,
        "max_tokens": 16,
        "precision": "no",
        "seed": 1,
        "save_every": 5,
    }


def recipe(world: Path) -> dict:
    return json.loads((world / "recipe.json").read_text("utf-8"))


def train(recipe: dict, world: Path, run: Path, until: int | None = None, resume: bool = False) -> list[loop.Event]:
    """The events of a run; with `until`, of one that is left when that step is saved."""
    found = []
    for event in post_training.post_train(recipe, world / "data", run, resume, Accelerator(cpu=True)):
        found.append(event)
        if (event.kind, event.step) == ("saved", until):
            break
    return found


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(loop.last_state(run) / "model.safetensors")


@pytest.fixture(scope="module")
def whole(world) -> tuple[Path, list[loop.Event]]:
    """A run from its start to its end, and what it said."""
    torch.manual_seed(100)
    return world / "whole", train(recipe(world), world, world / "whole")


@pytest.fixture
def tokenizer(world) -> Tokenizer:
    return Tokenizer(world / "start" / "tokenizer.json")


# --- what is hidden ---


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 1.0])
def test_the_asked_share_of_ordinary_tokens_is_hidden(tokenizer, share):
    torch.manual_seed(1)
    ids = torch.randint(len(tokenizer), (400, 100))
    ordinary = ~torch.isin(ids, torch.tensor(list(tokenizer.special.values())))
    assert 0.8 < ordinary.float().mean() < 0.9
    before = ids.clone()
    shown, hidden = encoder_rows.mask(ids, tokenizer, share)
    assert torch.equal(ids, before)  # the loss reads what was hidden from them
    assert not hidden[~ordinary].any()
    assert torch.equal(shown[~hidden], ids[~hidden])
    assert abs(hidden[ordinary].float().mean() - share) < 0.01


def test_hidden_tokens_are_mostly_mask_and_sometimes_another_or_themselves(tokenizer):
    torch.manual_seed(2)
    ids = torch.randint(len(tokenizer), (400, 100))
    shown, hidden = encoder_rows.mask(ids, tokenizer, 0.5)
    masked = (shown == tokenizer.special["mask"])[hidden].float().mean()
    same = (shown == ids)[hidden].float().mean()
    lucky = 0.1 / len(tokenizer)  # a random token may be [MASK], or the hidden one
    assert abs(masked - 0.8 - lucky) < 0.01
    assert abs(same - 0.1 - lucky) < 0.01
    others = shown[hidden & (shown != ids) & (shown != tokenizer.special["mask"])]
    assert len(others.unique()) == len(tokenizer) - 1


# --- what is mined ---


def read(world: Path, name: str, tokenizer: Tokenizer) -> list[encoder_rows.Pair]:
    return encoder_rows.read_pairs([world / "data" / "small" / f"{name}.jsonl"], tokenizer, 16)


def mined(world: Path, tokenizer: Tokenizer, seed: int = 1) -> list[encoder_rows.Pair]:
    """What the first stage mines."""
    bert = BertForPreTraining.from_pretrained(world / "start").bert
    rows, known = (read(world, name, tokenizer) for name in ("positives", "train"))
    return schedule.mine_negatives(rows, known, bert, tokenizer, seed)


def test_mined_pairs_are_negatives_that_no_chain_of_positives_joins(world, tokenizer):
    positives, train = read(world, "positives", tokenizer), read(world, "train", tokenizer)
    found = mined(world, tokenizer)
    assert len(found) > len(positives) / 3
    assert {row.label for row in found} == {0}
    meaning = {ids: {ids} for row in (*positives, *train) for ids in (row.a, row.b)}
    for row in (*positives, *train):
        if row.label == 1:
            joined = meaning[row.a] | meaning[row.b]
            meaning.update(dict.fromkeys(joined, joined))
    assert max(map(len, meaning.values())) == 6  # two chains of three, joined by a row of `train`
    for row in (row for seed in range(1, 6) for row in mined(world, tokenizer, seed)):
        assert row.a in {one.a for one in positives}
        assert row.b not in meaning[row.a]
    assert mined(world, tokenizer) == found
    assert mined(world, tokenizer, seed=2) != found


# --- what is read ---


def test_marked_rows_are_not_trained_on_and_dev_is_whole(world, tokenizer, tmp_path, monkeypatch):
    """Neither as rows of a stage nor as positives to mine for."""
    shutil.copytree(world / "data", tmp_path / "data")
    for name in ("train", "positives", "dev"):
        mark(tmp_path / "data" / "small" / f"{name}.jsonl", in_eval=(2, 3), dup=(9,))
    measured, accuracy = [], post_training.accuracy
    monkeypatch.setattr(post_training, "accuracy", lambda *given: measured.append(len(given[1])) or accuracy(*given))
    asked, mined = [], schedule.mine_negatives
    monkeypatch.setattr(schedule, "mine_negatives", lambda *given: asked.append(given[0]) or mined(*given))
    events = train(recipe(world), tmp_path, tmp_path / "run", until=19)
    said = next(event.values["stages"] for event in events if event.kind == "metric")
    whole = read(world, "positives", tokenizer)
    assert [stage["labelled"] for stage in said] == [45, 45]
    assert said[0]["positives"] == 25 and asked == [[row for at, row in enumerate(whole) if at not in (2, 3, 9)]]
    assert set(measured) == {20}


# --- a run ---


def test_a_run_has_its_stages_and_says_so(world, whole, tokenizer):
    _, events = whole
    first = -(-(48 + len(read(world, "positives", tokenizer)) + len(mined(world, tokenizer))) // 8)
    assert first < 19 < 2 * first
    metrics = {event.step: event.values["dev accuracy"] for event in events if event.kind == "metric"}
    assert list(metrics) == [first, 19, 25, 31, 37]  # 48 rows are 6 batches
    steps = {event.step: event.values for event in events if event.kind == "step"}
    assert list(steps) == [20, 37]
    assert all(math.isfinite(said["loss"]) for said in steps.values())
    assert "word" not in steps[20]  # the second stage hides nothing


def test_both_objectives_are_learned_and_every_tensor_moves(world, whole, tokenizer):
    module = post_training.PostTraining(BertForPreTraining.from_pretrained(world / "start")).eval()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    rows = read(world, "train", tokenizer)
    labels = torch.tensor([row.label for row in rows])
    ids, types, keep = encoder_rows.collate(rows, tokenizer)
    torch.manual_seed(3)
    shown, hidden = encoder_rows.mask(ids, tokenizer, MASK)
    losses = []
    for _ in range(2):
        with torch.no_grad():
            words, relation = module(shown, types, keep, hidden)
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
    found, wanted = weights(tmp_path / "run"), weights(whole[0])
    assert found.keys() == wanted.keys()
    for name in wanted:
        assert torch.equal(found[name], wanted[name]), name


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
    found = []
    for number, seed in enumerate((1, 1, 2)):
        torch.manual_seed(number)
        train(given | {"seed": seed}, world, tmp_path / str(number), until=5)
        found.append(weights(tmp_path / str(number)))
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])
    assert not torch.equal(found[0]["bert.cls.seq_relationship.weight"], found[2]["bert.cls.seq_relationship.weight"])


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
    said = [(event.step, event.values) for event in events if event.kind == "metric"]
    assert [(event["step"], event["values"]) for event in metrics["history"]] == said
    assert {path.name for path in folder.iterdir()} >= {"config.json", "tokenizer.json", "model.safetensors"}
