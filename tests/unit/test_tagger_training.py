"""A tagger from end to end: trained on a few rows, resumed, measured, verified and explained by the command line."""

from __future__ import annotations

import json
import math
import random
import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.tiny import WORDS, make_encoder
from triattn_core.__main__ import main
from triattn_core.analysis.maps.predicate_weight import predicate_weights
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import DataError, InputError
from triattn_core.inference import evaluate
from triattn_core.inference.explain import explain
from triattn_core.inference.predictions import Tag, Tagging
from triattn_core.kinds import kind_of
from triattn_core.models.tagger import Tagger
from triattn_core.results.run_records import Record, config_variant
from triattn_core.results.worth import worth
from triattn_core.tasks import roles
from triattn_core.tasks.predicate_words import read_counts
from triattn_core.trace import AttentionTrace

LABELS = ["ARG0", "ARG1", "V"]
MODEL = {"mechanism": "mtsa", "out": 12, "heads": 2, "layers": 2, "feed_forward": 16, "scale_t": "identity"}


def proposition(draw: random.Random) -> dict:
    """What is before the predicate is its ARG0, the word after it its ARG1."""
    words = draw.choices(WORDS[4:-3], k=draw.randint(3, 7))
    predicate = draw.randrange(len(words))
    tags = ["I-ARG0"] * predicate + ["B-V"] + ["O"] * (len(words) - predicate - 1)
    if predicate:
        tags[0] = "B-ARG0"
    if predicate + 1 < len(words):
        tags[predicate + 1] = "B-ARG1"
    return {"tokens": words, "predicate": predicate, "tags": tags, "pos": draw.choice(["verb", "noun"])}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("world")
    encoder = root / "checkpoints" / "encoders" / "tiny"
    make_encoder(encoder)
    (encoder / "metrics.json").write_text('{"start": "nothing", "start_had_seen": []}')
    for seed, (name, size) in enumerate({"train": 60, "dev": 14, "test": 12}.items()):
        draw = random.Random(seed)
        rows = [proposition(draw) for _ in range(size)]
        path = root / "data" / "small" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    config = {"format": 1, "kind": "tagger", "task": "roles", "language": "en", "encoder": "tiny", "labels": LABELS}
    config |= {"max_tokens": 40, "model": MODEL, "training": {"epochs": 8, "rate": 0.03, "batch": 12, "smoothing": 0.0}}
    config["data"] = {"train": ["small/train"], "dev": "small/dev", "test": "small/test"}
    (root / "checkpoints" / "small-tagger").mkdir()
    (root / "checkpoints" / "small-tagger" / "config.json").write_text(json.dumps(config))
    return root


@pytest.fixture(scope="module")
def folder(world):
    patch = pytest.MonkeyPatch()
    patch.setenv("TRIATTN_CHECKPOINTS", str(world / "checkpoints"))
    patch.setenv("TRIATTN_DEVICE", "cpu")
    folder = world / "checkpoints" / "small-tagger"
    command = ["train", str(folder / "config.json"), "--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(command) == 0
    yield folder
    patch.undo()


def test_it_learns_and_is_recorded(folder):
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert metrics["test"]["f1"] > 80 > metrics["test"]["majority"] and metrics["test"]["n"] == 12
    assert {"precision", "recall", "complete", "f1_verbs"} <= set(metrics["dev"])
    best = max((row for row in metrics["history"] if "dev_f1" in row), key=lambda row: row["dev_f1"])
    assert metrics["best_step"] == best["step"] and metrics["dev"]["f1"] == pytest.approx(best["dev_f1"], abs=3)
    card = (folder / "README.md").read_text("utf-8")
    assert "semantic roles" in card and f"{metrics['test']['f1']:.2f}" in card


def test_a_tagger_without_maps_is_recorded_without_them(folder, world):
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["model"] = {"mechanism": "bi_lstm", "out": 12, "layers": 1, "feed_forward": 16}
    config["training"] = {"epochs": 1, "rate": 0.03, "batch": 12}
    recurrent = world / "checkpoints" / "recurrent"
    recurrent.mkdir()
    keep = ("format", "kind", "task", "language", "encoder", "labels", "max_tokens", "model", "training", "data")
    (recurrent / "config.json").write_text(json.dumps({name: config[name] for name in keep}))
    command = ["train", str(recurrent / "config.json"), "--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(command) == 0
    metrics = json.loads((recurrent / "metrics.json").read_text("utf-8"))
    assert metrics["test"]["n"] == 12 and "attention" not in metrics
    assert "semantic roles" in (recurrent / "README.md").read_text("utf-8")


def test_it_counts_the_words_that_are_predicates(folder, world, capsys):
    rows = list(roles.read(world / "data" / "small" / "train.jsonl", training=True))
    counts = read_counts(folder)
    sentences = {example.words for example in rows}
    word = max(counts, key=lambda name: counts[name][0])
    assert counts[word][0] == sum(words.count(word) for words in sentences)
    places = {(example.words, example.predicate) for example in rows}
    assert counts[word][1] == sum(words[place].lower() == word for words, place in places)
    row = world / "unseen.json"
    row.write_text(json.dumps({"text": f"{WORDS[5]} zebra", "predicate": 1}))
    assert main(["explain", "small-tagger", str(row)]) == 0
    assert "“zebra” occurs fewer than 5 times in training, never as a predicate" in capsys.readouterr().out


def test_tags_that_cannot_be_have_no_finite_logarithm() -> None:
    for second, total in ((0.5, math.log(0.125)), (0.0, -math.inf)):
        tags = [Tag(0, 1, "O", 0.25), Tag(2, 3, "B-ARG1", second)]
        assert Tagging.of("a b", tags).log_probability == pytest.approx(total)


def test_the_commands_take_it(folder, world, capsys, tmp_path):
    row, out = world / "row.json", tmp_path / "trace.nc"
    row.write_text(json.dumps({"text": f"{WORDS[5]} {WORDS[6]} {WORDS[7]}", "predicate": 1}))
    assert main(["verify", "small-tagger"]) == 0
    assert main(["explain", "small-tagger", str(row), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    trace = AttentionTrace.load(out)
    prediction, _ = explain(load(folder), roles.Example(tuple(WORDS[5:8]), 1))
    assert f"\nlog p {np.log(prediction.recorded).sum():.2f}  {WORDS[5]}/" in printed
    weights = trace.sites["layer.1/token2token/weight"]
    assert weights.dims == ("head", "query", "key") and list(weights["key_token"].values) == list(WORDS[5:8])
    rows = str(world / "data" / "small" / "test.jsonl")
    assert main(["evaluate", "small-tagger", rows, "--attention", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {(one["layer"], one["head"]) for one in result["attention"]["predicate"]} == {
        (i, j) for i in (0, 1) for j in (0, 1)
    }
    assert main(["evaluate", "small-tagger", rows, "--attention"]) == 0
    printed = capsys.readouterr().out
    assert "weight on the predicate, layer 2 head 1: " in printed and ", even inside 0." in printed
    assert ", even outside 0." in printed and re.search(r"; of \d+ and \d+ words", printed)


def test_scores_on_another_corpus_are_recorded_beside_dev_and_test(folder, world, capsys):
    rows = (world / "data" / "small" / "test.jsonl").read_text("utf-8").splitlines()
    other = world / "data" / "other" / "written.jsonl"
    other.parent.mkdir(exist_ok=True)
    for kept in (rows[:5], rows[:9]):  # a set that is measured again has its last scores
        other.write_text("\n".join(kept) + "\n", "utf-8")
        capsys.readouterr()
        assert main(["evaluate", "small-tagger", str(other), "--record", "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
        assert metrics["elsewhere"] == [{"set": "other/written", **printed["metrics"], "n": len(kept)}]
    card = (folder / "README.md").read_text("utf-8")
    assert f"| `other/written` | {printed['metrics']['f1']:.2f} |" in card and "| 9 |" in card
    assert main(["evaluate", "small-tagger", str(world / "data" / "small" / "test.jsonl"), "--record"]) != 0
    assert "was measured in training" in capsys.readouterr().err


@pytest.mark.parametrize("mechanism", ["mtsa", "multi_head"])
def test_reliance_is_the_f1_that_even_weights_cost(folder, world, mechanism):
    """Queries and scores of zero are as relevant to all keys: set in the weights, not by replacing anything."""
    bundle = load(folder)
    if mechanism != "mtsa":
        config = bundle.config.model.model_copy(update={"mechanism": mechanism, "scale_t": "log_sigmoid"})
        torch.manual_seed(3)
        own = bundle.model
        bundle = replace(bundle, model=Tagger(config, own.input.in_features, own.predict.out_features).eval())
    examples = list(roles.read(world / "data" / "small" / "test.jsonl"))
    report = bundle.kind.attention_report(bundle, examples)
    own, zeroed = f1(bundle, examples), replace(bundle, model=deepcopy(bundle.model))
    with torch.no_grad():
        for name, parameter in zeroed.model.named_parameters():
            if ".query." in name or ".source2token." in name:
                parameter.zero_()
    lost = report["reliance"]["even"]
    assert report["metric"] == "f1" and report["score"] == own
    assert lost["points"] == pytest.approx(own - f1(zeroed, examples), abs=0.011)
    assert lost["low"] <= lost["points"] <= lost["high"] and 0 < lost["p"] <= 1


def f1(bundle, examples) -> float:
    (verdicts,) = evaluate.verdicts([bundle], examples)
    return bundle.task.metrics(verdicts)["f1"]


def test_worth_is_over_the_same_network_without_scores(folder):
    """As `triattn train` has recorded it; a control has none itself, nor has a network without MTSA."""
    config = load(folder).config
    control = config.model_copy(
        update={"model": config.model.model_copy(update=kind_of(config).controls(config)["even"])}
    )
    assert not (control.model.token2token or control.model.source2token)
    each = {"each_seed": [{"seed": 1, "dev": {"f1": 60.0}}]}
    records = [Record(Entry("control", Path("control"), {}, each, config_variant(control), 0), "trained")]
    assert worth(config, [64.0, 66.0], "f1", records) == {"even": {"points": 5.0, "spread": 1.414, "seeds": 1}}
    plain = config.model_copy(update={"model": config.model.model_copy(update={"mechanism": "multi_head"})})
    assert worth(control, [60.0], "f1", records) == worth(plain, [60.0], "f1", records) == {}


def test_the_weight_on_the_predicate_is_that_of_a_slow_loop(folder, world):
    bundle = load(folder)
    examples = list(roles.read(world / "data" / "small" / "test.jsonl"))
    found = {(one["layer"], one["head"]): one for one in predicate_weights(bundle, examples)}
    values = {side: [] for side in ("inside", "outside", "even")}
    for example in examples:
        _, trace = explain(bundle, example)
        weights = trace.sites["layer.1/token2token/weight"].values[1]  # a backward head: it sees later words
        for query in range(example.predicate):
            side = "inside" if example.label[query][2:] in ("ARG0", "ARG1") else "outside"
            values[side].append(weights[query, example.predicate])
            if side == "inside":
                values["even"].append(1 / (len(example.words) - 1 - query))
    for name, weights in values.items():
        assert found[1, 1][name] == (pytest.approx(np.mean(weights), abs=1e-4) if weights else None)


def test_what_cannot_be_read_is_said_in_one_line(folder, world):
    bundle = load(folder)
    with pytest.raises(InputError, match="no word 4: choose its predicate"):
        explain(bundle, roles.Example(("a", "b", "c"), 3))
    with pytest.raises(InputError, match="has 300 words, and the model reads at most 40"):
        explain(bundle, roles.Example(("the",) * 300, 0))
    with pytest.raises(InputError, match="empty"):
        explain(bundle, roles.Example((), 0))
    with pytest.raises(DataError, match="predicate"):
        roles.Example.from_row({"tokens": ["a"]})
    with pytest.raises(DataError, match="'I-ARG0' at 1"):
        roles.Example.from_row({"tokens": ["a", "b"], "predicate": 0, "tags": ["O", "I-ARG0"]})


def test_typed_sentences_are_split_as_the_treebank_does():
    example = roles.Example.from_row({"text": "She didn't say \"it's Mr. Ng's dog\".", "predicate": 3})
    assert example.words == ("She", "did", "n't", "say", '"', "it", "'s", "Mr", ".", "Ng", "'s", "dog", '"', ".")
