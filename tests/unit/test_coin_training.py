"""COIN from config to checkpoint: its words, its rows, a small run from end to end, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator

from tests.support.tiny import change, make_encoder, make_rows
from triattn_core.__main__ import main
from triattn_core.checkpoint import metadata, provenance
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.checkpoint.verify import verify
from triattn_core.errors import CheckpointError, DataError
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import explain
from triattn_core.models.coin import Coin
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import pairs
from triattn_core.text.characters import word_tokenizer
from triattn_core.text.tokenizer import SPECIAL, Tokenizer
from triattn_core.training.coin.pair_words import pair_rows
from triattn_core.training.tan import trainer

pytestmark = pytest.mark.slow


MODEL = {"embedding": 7, "hidden": 10, "layers": 2, "heads": 5}


OWN = {"vocabulary": {"tokens": "words", "least": 1}}


SEEDS = (2, 3)


def make(root: Path, name: str, **more) -> Path:
    folder = root / "checkpoints" / name
    folder.mkdir(parents=True)
    plan_ = {"format": 1, "kind": "coin", "task": "pairs", "language": "en", "max_tokens": 12, "model": MODEL}
    plan_ |= {"data": {"train": ["small/train"], "dev": "small/dev", "test": "small/test"}}
    plan_ |= {"training": {"epochs": 2, "rate": 0.01, "batch": 8}} | (OWN if "encoder" not in more else {}) | more
    (folder / "config.json").write_text(json.dumps(plan_), "utf-8")
    return folder


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("world")
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    for split, count, seed in (("train", 48, 1), ("more", 17, 4), ("dev", 20, 2), ("test", 22, 3)):
        make_rows(root / "data" / "small" / f"{split}.jsonl", count, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


def run(world: Path, *arguments: str) -> int:
    return main([*arguments, "--data", str(world / "data"), "--runs", str(world / "runs")])


@pytest.fixture(scope="module")
def trained(world) -> Path:
    """A checkpoint with its own words and two more seeds."""
    folder = make(world, "coin")
    change(folder, training={"more_seeds": SEEDS})
    assert run(world, "train", str(folder / "config.json")) == 0
    return folder


def test_words_are_those_of_the_training_rows(world):
    texts = ["What's Red?", "what is RÉD", "is it"]
    assert word_tokenizer(texts, 2).get_vocab() == {
        one: i for i, one in enumerate([*SPECIAL.values(), "is", "red", "what"])
    }
    config = read_config(make(world, "plan-words") / "config.json")
    _, words, folder = pair_rows(config, world / "data", world / "runs", "cpu")
    rows = [json.loads(line) for line in (world / "data" / "small" / "train.jsonl").read_text().splitlines()]
    expected = {word for row in rows for word in (row["text_a"] + " " + row["text_b"]).split()}
    vocabulary = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    assert set(vocabulary) == expected | set(SPECIAL.values()) and words.hidden == len(vocabulary)


def test_of_some_rows_only_their_words_are_learnt(world):
    data = {"train": ["small/train"], "dev": "small/dev", "every": 47}
    config = read_config(make(world, "plan-every", data=data) / "config.json")
    sets, words, folder = pair_rows(config, world / "data", world / "runs", "cpu")
    assert len(sets["small/train"]) == 2 and sets["small/train"].ids["a"].max() < words.hidden
    rows = list(pairs.read(world / "data" / "small" / "train.jsonl"))[::47]
    texts = [text for row in rows for text in (row.text_a, row.text_b)]
    assert words.hidden == word_tokenizer(texts).get_vocab_size()


@pytest.mark.parametrize("encoder", [None, "tiny"])
def test_rows_are_what_a_bundle_reads(world, encoder):
    more = {} if encoder is None else {"encoder": encoder, "vocabulary": None}
    data = {"train": ["small/train", "small/more"], "dev": "small/dev"}
    config = read_config(make(world, f"plan-{encoder}", data=data, **more) / "config.json")
    sets, words, folder = pair_rows(config, world / "data", world / "runs", "cpu")
    assert list(sets) == ["small/dev", "small/train"] and len(sets["small/train"]) == 48 + 17
    tokenizer = load_encoder("tiny", "cpu")[1] if encoder else Tokenizer(folder / "tokenizer.json")
    examples = list(pairs.read(world / "data" / "small" / "dev.jsonl"))
    chosen = np.array([3, 5, 13])
    tensors, counts, labels = sets["small/dev"].batch(chosen, "cpu")
    roles = [example_roles for (example_roles,) in pairs.roles([examples[i] for i in chosen], tokenizer, config.limits)]
    for ours, theirs in zip(tensors, words(collate(roles, tokenizer)), strict=True):
        assert torch.equal(ours.keep, theirs.keep) and ours.words.shape == theirs.words.shape
        torch.testing.assert_close(ours.words[ours.keep], theirs.words[theirs.keep])
    assert counts == [1, 1, 1] and labels.tolist() == [examples[i].label for i in chosen]
    assert sets["small/dev"].lengths[5].tolist() == [len(roles[1].query), len(roles[1].key)]


def test_a_run_from_end_to_end(world, trained, capsys):
    metrics = json.loads((trained / "metrics.json").read_text("utf-8"))
    assert [seed_run["seed"] for seed_run in metrics["each_seed"]] == [1, *SEEDS]
    assert all(check.good for check in verify("coin"))
    entry = next(entry for entry in list_checkpoints() if entry.name == "coin")
    assert (
        entry.problem is None
        and metadata.model_setting(entry, "mechanism") == "coin"
        and provenance.pretraining_sources(entry) == ()
    )
    card_text = " ".join((trained / "README.md").read_text("utf-8").split())
    assert "2 interaction blocks" in card_text and "F1 is that of the label 1." in card_text
    assert "dropout 0.199 (51 in 256)" in card_text and "matrix products in float32" in card_text
    assert "L2 1e-06 of all weights but biases and the vectors of its words" in card_text
    assert "What the paper leaves open is chosen so: one layer for F and for each G" in card_text
    bundle = load("coin")
    prediction, trace = explain(bundle, pairs.Example("who is the red car ?", "is a big car"))
    assert abs(sum(prediction.probabilities) - 1) < 1e-6
    assert trace.site("layer.1/b_over_b/weight")["query_token"].values.tolist() == ["is", "a", "big", "car"]
    over = trace.site("layer.0/a_over_b/without_context/weight")
    assert over["query_text"].values[0] == "a" and over["key_text"].values[0] == "b"
    assert trace.site("layer.0/b_over_a/gate").dims == ("query", "feature")
    names = ["coin", *(str(world / "runs" / f"coin-seed-{seed}") for seed in SEEDS)]
    capsys.readouterr()
    assert main(["evaluate", *names, str(world / "data" / "small" / "test.jsonl"), "--vote", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["checkpoints"]
    assert [result["name"] for result in results] == [*names, "majority vote"]
    assert [result["metrics"]["accuracy"] for result in results[:3]] == [
        seed_run["test"]["accuracy"] for seed_run in metrics["each_seed"]
    ]
    bundles = [load(name) for name in names]
    rows = list(pairs.read(world / "data" / "small" / "test.jsonl"))
    votes = [[explain(one, row, lambda site: False)[0].best for one in bundles] for row in rows]
    right = sum((sum(vote) >= 2) == row.label for vote, row in zip(votes, rows))
    assert results[3]["metrics"]["accuracy"] == round(100 * right / len(rows), 2)


def test_it_learns(world):
    folder = make(world, "learns", training={"epochs": 20, "rate": 0.01, "batch": 8, "balanced": True})
    change(folder, data={"test": None}, model={"dropout": 0.0})
    assert run(world, "train", str(folder / "config.json")) == 0
    bundle = load(folder)
    rows = list(pairs.read(world / "data" / "small" / "train.jsonl"))
    right = [explain(bundle, row, lambda site: False)[0].best == row.label for row in rows]
    assert sum(right) > 0.75 * len(right)


def test_the_table_of_an_encoder_needs_no_words_of_its_own(world):
    folder = make(world, "coin-table", encoder="tiny")
    assert run(world, "train", str(folder / "config.json")) == 0
    bundle = load(folder)
    assert not (folder / "tokenizer.json").exists() and isinstance(bundle.model.embed, torch.nn.Linear)
    assert all(check.good for check in verify(str(folder)))


def test_other_words_are_refused(world, trained, tmp_path):
    copy = shutil.copytree(trained, tmp_path / "copy")
    file = copy / "tokenizer.json"
    file.write_text(file.read_text("utf-8").replace('"red"', '"rad"'), "utf-8")
    with pytest.raises(CheckpointError, match="tokenizer.json: digest .* was recorded; copy the checkpoint again"):
        load(copy)
    file.unlink()
    with pytest.raises(CheckpointError, match="tokenizer.json"):
        load(copy)


def test_a_vote_needs_three(world, trained, capsys):
    assert main(["evaluate", "coin", str(world / "data" / "small" / "test.jsonl"), "--vote"]) == 1
    assert "a majority vote needs three checkpoints or more" in capsys.readouterr().err


def test_only_the_rows_that_are_wanted_train_and_choose(world):
    data = {"train": ["small/train"], "dev": "small/dev", "where": {"label": "1"}}
    config = read_config(make(world, "plan-where", data=data) / "config.json")
    sets, words, _ = pair_rows(config, world / "data", world / "runs", "cpu")
    texts = []
    for split in ("train", "dev"):
        rows = [example for example in pairs.read(world / "data" / "small" / f"{split}.jsonl") if example.label == 1]
        assert sets[f"small/{split}"].labels.tolist() == [1] * len(rows) and rows
        texts.append([text for row in rows for text in (row.text_a, row.text_b)])
    assert words.hidden == word_tokenizer(texts[0]).get_vocab_size()
    nobody = config.model_copy(update={"data": config.data.model_copy(update={"where": {"label": "7"}})})
    with pytest.raises(DataError, match="train.jsonl: no row with label '7' has a label: nothing to train on"):
        pair_rows(nobody, world / "data", world / "runs", "cpu")


@pytest.mark.parametrize("split", ["train", "dev"])
def test_a_row_without_a_word_is_named_before_training(world, split):
    file = world / "data" / f"blank-{split}" / f"{split}.jsonl"
    make_rows(file, 3, 6)
    with open(file, "a", encoding="utf-8") as rows:
        rows.write('{"text_a": "who", "text_b": "\\u200b", "label": 1}\n')
    data = {"train": ["small/train"], "dev": "small/dev"} | {split: f"blank-{split}/{split}"}
    data["train"] = [data["train"]] if isinstance(data["train"], str) else data["train"]
    config = read_config(make(world, f"plan-blank-{split}", data=data) / "config.json")
    with pytest.raises(DataError, match=rf"{split}.jsonl:4: Sentence B has no character that the model can read"):
        pair_rows(config, world / "data", world / "runs", "cpu")


def test_the_vectors_of_a_table_are_standardised_token_by_token(world):
    config = read_config(make(world, "plan-look", encoder="tiny") / "config.json")
    _, words, _ = pair_rows(config, world / "data", world / "runs", "cpu")
    ids = torch.tensor([[5, 6, 7]])
    table = load_encoder("tiny", "cpu")[0].joint.embeddings.word_embeddings(ids).detach().numpy()
    centred = table - table.mean(-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(words.look(ids).detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_run_follows_its_config(world):
    """Adam with L2 and the clip of the config, not AdamW and the clip of other models."""
    config = read_config(make(world, "plan-job") / "config.json", {"training.clip": 3.5})
    sets, words, _ = pair_rows(config, world / "data", world / "runs", "cpu")
    job = trainer.make_job(
        Coin(config.model, words.hidden), config, sets, world / "runs" / "plan-job", Accelerator(cpu=True)
    )
    assert (job.clip, job.optimizer, job.weight_decay) == (3.5, "adam", config.training.weight_decay)


def test_a_loss_at_each_block_is_added(world):
    config = read_config(make(world, "plan-exits") / "config.json", {"model.layers": 2, "model.dropout": 0})
    sets, words, _ = pair_rows(config, world / "data", world / "runs", "cpu")
    module, losses = Coin(config.model, words.hidden), {}
    for share in (0.0, 0.5, 1.0):
        exits = config.model_copy(update={"model": config.model.model_copy(update={"block_loss": share})})
        job = trainer.make_job(module, exits, sets, world / "runs" / "plan-exits", Accelerator(cpu=True))
        losses[share] = job.loss(module, 0)[0].item()
    early = losses[1.0] - losses[0.0]
    assert early > 0.2 and losses[0.5] == pytest.approx(losses[0.0] + early / 2)
