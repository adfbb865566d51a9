"""Training of sentence models: which rows train, choose and test, and a small run of each kind from end to end."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
import torch

from tests.support.tiny import WORDS, make_encoder
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.batch import collate
from triattn_core.inference.evaluate import evaluate, texts_of
from triattn_core.inference.explain import explain
from triattn_core.models.encoders import load_encoder
from triattn_core.models.word_vectors import word_vectors
from triattn_core.tasks import TASKS, inference, sentences
from triattn_core.text.roles import Limits
from triattn_core.trace import AttentionTrace
from triattn_core.training.loop import OPTIMIZERS, optimizer_for
from triattn_core.training.sentence.features import encode_texts
from triattn_core.training.sentence.splits import splits

NAMES = ("person", "place", "thing")
MODEL = {"mechanism": "mtsa", "width": 8, "out": 12, "heads": 2, "hidden": 8, "keep": 0.9}
DUPLICATES = 4


def sentence(draw: random.Random) -> dict:
    """Its class is the first word."""
    label = draw.randrange(3)
    words = [("who", "where", "what")[label], *draw.choices(WORDS[4:-3], k=draw.randint(3, 6))]
    return {"text": " ".join(words) + " ?", "label": label}


def pair(draw: random.Random) -> dict:
    label = draw.randrange(3)
    a, b = (" ".join(draw.choices(WORDS[4:-3], k=draw.randint(3, 6))) for _ in range(2))
    src = draw.choice(["random", "other"])
    return {"text_a": a, "text_b": f"{('the', 'not', 'what')[label]} {b}", "label": label, "src": src}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """`ask` has no dev, `any` no split and four rows twice, `nli` all three."""
    root = tmp_path_factory.mktemp("world")
    encoder = root / "checkpoints" / "encoders" / "tiny"
    make_encoder(encoder)
    (encoder / "metrics.json").write_text('{"start": "nothing", "start_had_seen": []}')
    sizes = {"ask/train": 40, "ask/test": 12, "any/all": 30, "nli/train": 40, "nli/dev": 14, "nli/test": 12}
    rows_by_set = {}
    for number, (name, size) in enumerate(sizes.items()):
        draw = random.Random(number)
        rows = rows_by_set[name] = [(pair if name.startswith("nli") else sentence)(draw) for _ in range(size)]
        if name == "any/all":
            rows += [{**row, "text": row["text"].upper(), "dup": 1} for row in rows[:DUPLICATES]]
        if name == "ask/test":
            rows[0] = rows_by_set["ask/train"][0]
        path = root / "data" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        if not name.startswith("nli"):
            labels = {str(i): one for i, one in enumerate(NAMES)}
            path.with_name("labels.json").write_text(json.dumps(labels), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


def make(world: Path, name: str, task: str, data: dict, training: dict | None = None, **more) -> Path:
    folder = world / "checkpoints" / name
    folder.mkdir()
    plan = {"format": 1, "kind": "sentence", "task": task, "language": "en", "encoder": "tiny", "max_tokens": 12}
    plan |= {"labels": NAMES} if task == "sentences" else {}
    plan |= {"model": MODEL, "data": data, "training": {"epochs": 2, "rate": 0.01, "batch": 8, **(training or {})}}
    (folder / "config.json").write_text(json.dumps(plan | more), "utf-8")
    return folder


ASK = {"train": ["ask/train"], "test": "ask/test", "dev_share": 0.25}
ANY = {"train": ["any/all"], "test": "any/all", "folds": 3, "fold": 2}
NLI = {"train": ["nli/train"], "dev": "nli/dev", "test": "nli/test", "where": {"src": "random"}}


def train(world: Path, folder: Path) -> dict:
    where = ["--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(["train", str(folder / "config.json"), *where, "--json"]) == 0
    return json.loads((folder / "metrics.json").read_text("utf-8"))


def test_what_is_held_out_is_not_trained_on(world):
    config = read_config(make(world, "plan-ask", "sentences", ASK) / "config.json")
    parts = splits(config, world / "data")
    rows = list(sentences.read(world / "data" / "ask" / "train.jsonl"))
    (train_,), dev, test = parts.train.values(), parts.dev, parts.test
    keys = {name: {texts_of(example) for example in parts.examples(name)} for name in ("dev", "test")}
    learnt = [texts_of(rows[i]) for i in train_]
    assert texts_of(rows[0]) in keys["test"], "the first row of train stands in test too"
    assert not keys["dev"] & keys["test"]
    assert not set(learnt) & (keys["dev"] | keys["test"]) and len(set(learnt)) == len(learnt)
    assert dev[0] == "ask/train" and len(dev[1]) == round(0.25 * (len(learnt) + len(dev[1])))
    assert test[0] == "ask/test" and len(test[1]) == 12
    other = config.model_copy(update={"training": config.training.model_copy(update={"seed": 5})})
    assert np.array_equal(splits(other, world / "data").dev[1], dev[1])


def test_folds_cover_the_set_once_and_share_no_text(world):
    config = read_config(make(world, "plan-any", "sentences", ANY) / "config.json")
    test_rows = []
    for fold in (1, 2, 3):
        data = config.data.model_copy(update={"fold": fold})
        parts = splits(config.model_copy(update={"data": data}), world / "data")
        rows = parts.sets["any/all"]
        tested = {texts_of(rows[i]) for i in parts.test[1]}
        learnt = [texts_of(rows[i]) for i in (*parts.train["any/all"], *parts.dev[1])]
        assert not tested & set(learnt) and len(set(learnt)) == len(learnt)
        assert tested | set(learnt) == set(map(texts_of, rows))
        test_rows += parts.test[1].tolist()
    assert sorted(test_rows) == list(range(30 + DUPLICATES))


def test_labels_are_those_of_the_set(world):
    folder = make(world, "plan-labels", "sentences", ASK, labels=["place", "person", "thing"])
    with pytest.raises(ConfigError, match="labels: .*labels.json has person, place, thing"):
        splits(read_config(folder / "config.json"), world / "data")
    config = read_config(make(world, "plan-where", "inference", NLI | {"where": {"src": "nobody"}}) / "config.json")
    with pytest.raises(DataError, match=r"nli/train.jsonl: none of the selected rows"):
        splits(config, world / "data")


@pytest.mark.parametrize("source", ["embedding", "layer:1"])
def test_features_are_what_the_encoder_gives(world, tmp_path, source):
    encoder, tokenizer = load_encoder("tiny", "cpu")
    words = word_vectors(encoder, source, 12)
    examples = list(inference.read(world / "data" / "nli" / "dev.jsonl"))
    rows = [example_roles for (example_roles,) in inference.roles(examples, tokenizer, Limits(12))]
    features = encode_texts(tmp_path / "found", words, tokenizer, rows, [example.label for example in examples])
    part = features.part(np.array([3, 5, 8, 13]))
    chosen = np.array([0, 2, 3])
    tensors, counts, labels = part.batch(chosen, "cpu")
    expected = words(collate([rows[i] for i in (3, 8, 13)], tokenizer))
    assert counts == [1, 1, 1] and labels.tolist() == [examples[i].label for i in (3, 8, 13)]
    assert part.lengths[2].tolist() == [len(role) for role in rows[8].roles.values()] and len(part) == 4
    for ours, theirs in zip(tensors, expected, strict=True):
        assert torch.equal(ours.keep, theirs.keep)
        torch.testing.assert_close(ours.vectors[ours.keep], theirs.vectors[theirs.keep], rtol=0, atol=3e-3)


def test_the_optimizer_is_the_one_that_is_asked_for():
    for name, kind in OPTIMIZERS.items():
        assert type(optimizer_for(torch.nn.Linear(2, 3), 0.5, name)) is kind


def test_a_set_without_dev(world, capsys):
    folder = make(world, "ask-mtsa", "sentences", ASK, {"optimizer": "adadelta", "rate": 1.0, "more_seeds": [2]})
    metrics = train(world, folder)
    config = read_config(folder / "config.json")
    parts = splits(config, world / "data")
    bundle = load(folder)
    for split in ("dev", "test"):
        (result,) = evaluate([bundle], parts.examples(split))
        assert result["metrics"]["accuracy"] == metrics[split]["accuracy"] and result["n"] == metrics[split]["n"]
    assert len(metrics["seeds"]) == 2 and metrics["dev"]["set"] == "ask/train"
    capsys.readouterr()
    assert main(["verify", str(folder)]) == 0
    assert "MTSA" in (folder / "README.md").read_text("utf-8")
    example = sentences.Example("where is the red car ?", 1)
    prediction, trace = explain(bundle, example)
    assert prediction.labels == NAMES and prediction.gold == 1 and sum(prediction.probabilities) == pytest.approx(1)
    sites = {"pool/weight", "pool/relevance", "layer.0/token2token/weight", "layer.0/source2token/weight"}
    assert sites <= set(map(str, trace.sites)) and trace.meta["mechanism"] == "mtsa"
    weights = trace.site("pool/weight")
    assert weights.dims == ("key", "feature") and weights.sizes["feature"] == 12
    np.testing.assert_allclose(weights.sum("key"), 1, atol=1e-5)
    assert weights["key_token"].values.tolist() == "where is the red car ?".split()
    trace.save(world / "trace.nc")
    assert set(AttentionTrace.load(world / "trace.nc").sites) == set(trace.sites)
    assert main(["list"]) == 0 and "ask-mtsa" in capsys.readouterr().out


def test_folds_are_measured_each_on_its_own_part(world):
    folder = make(world, "any-mtsa", "sentences", ANY)
    metrics = train(world, folder)
    folds, each = metrics["folds"], []
    config = read_config(folder / "config.json")
    assert config.data.fold == 2
    for fold in (1, 2, 3):
        path = folder if fold == 2 else world / "runs" / f"any-mtsa-fold-{fold}"
        fold_config = read_config(path / "config.json")
        assert fold_config.data.fold == fold
        (result,) = evaluate([load(path)], splits(fold_config, world / "data").examples("test"))
        each.append(result["metrics"]["accuracy"])
    assert folds["each"] == each and folds["shipped"] == 2 and folds["count"] == 3
    assert folds["mean"] == metrics["test"]["accuracy"] == round(mean(each), 2)
    assert folds["spread"] == round(stdev(each), 2) and metrics["test"]["n"] == 30 + DUPLICATES
    card_text = (folder / "README.md").read_text("utf-8")
    assert "each tested by a model trained on the others" in card_text and "those of fold 2" in card_text


def test_folds_without_a_test_set_claim_no_test(world):
    folder = make(world, "any-dev-mtsa", "sentences", ANY | {"test": None})
    metrics, card_text = train(world, folder), (folder / "README.md").read_text("utf-8")
    assert "test" not in metrics and "none tested: on the rows that chose the epoch" in card_text


def test_folds_over_rows_cut_equal_texts_apart(world):
    config = read_config(make(world, "any-rows-mtsa", "sentences", ANY | {"repeats": True}) / "config.json")
    test_rows, both = [], 0
    for fold in (1, 2, 3):
        data = config.data.model_copy(update={"fold": fold})
        parts = splits(config.model_copy(update={"data": data}), world / "data")
        test_rows += parts.test[1].tolist()
        trained = {texts_of(parts.sets["any/all"][i]) for i in parts.train["any/all"]}
        both += sum(texts_of(example) in trained for example in parts.examples("test"))
        assert sum(map(len, (parts.train["any/all"], parts.dev[1], parts.test[1]))) == 30 + DUPLICATES
    assert sorted(test_rows) == list(range(30 + DUPLICATES)) and both
    with pytest.raises(ConfigError, match="repeats applies only with folds"):
        read_config(make(world, "no-folds-mtsa", "sentences", ASK | {"repeats": True}) / "config.json")


def test_inference_learns_from_the_rows_that_are_asked_for(world, capsys):
    folder = make(world, "nli-mtsa", "inference", NLI)
    metrics = train(world, folder)
    lines = (world / "data" / "nli" / "train.jsonl").read_text("utf-8").splitlines()
    rows = [record for record in map(json.loads, lines) if record["src"] == "random"]
    assert metrics["dev"]["n"] == 14 and metrics["test"]["n"] == 12 and 0 < len(rows) < 40
    (labels,) = (world / "runs" / "features").glob("*/nli-train*random/labels.npy")
    assert np.load(labels).tolist() == [row["label"] for row in rows]
    capsys.readouterr()
    assert main(["evaluate", str(folder), str(world / "data" / "nli" / "test.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["accuracy"] == metrics["test"]["accuracy"]
    bundle = load(folder)
    prediction, trace = explain(bundle, TASKS["inference"].examples()[0])
    assert prediction.labels == inference.LABELS
    for name in inference.TEXTS:
        weights = trace.site(f"{name}/layer.0/token2token/weight")
        assert set(weights["key_text"].values) == set(weights["query_text"].values) == {name}
